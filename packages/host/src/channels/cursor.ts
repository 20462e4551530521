import { AhpError } from '@atrium/protocol/errors'

/** Returns the cursor to the turns before `oldest`, the oldest turn that a client has. Cursors are opaque to clients. */
export function cursorBefore(oldest: { readonly id: string } | undefined): string {
  return oldest ? `${prefix}${oldest.id}` : newest
}

/**
 * Returns the id of the turn that a cursor names. Undefined if the client has no turn yet, so that all turns count as older.
 */
export function turnOf(cursor: string): string | undefined {
  if (cursor === newest) return undefined
  if (!cursor.startsWith(prefix)) throw unknownCursor()
  return cursor.slice(prefix.length)
}

export function unknownCursor(): AhpError {
  return AhpError.invalidParams('fetchTurns: unknown cursor, or its turn has been removed')
}

const prefix = 'before:'
const newest = 'newest'
