import { AhpError } from '@atrium/protocol/errors'

/** Where the turns end that a client does not have. A client gives it back as it is and reads nothing into it. */
export function cursorBefore(oldest: { readonly id: string } | undefined): string {
  return oldest ? `${prefix}${oldest.id}` : newest
}

/** The turn that it names; nothing where all turns are older, because the client has none. */
export function turnOf(cursor: string): string | undefined {
  if (cursor === newest) return undefined
  if (!cursor.startsWith(prefix)) throw unknownCursor()
  return cursor.slice(prefix.length)
}

export function unknownCursor(): AhpError {
  return AhpError.invalidParams('fetchTurns: an unknown cursor, or its turn is no more')
}

const prefix = 'before:'
const newest = 'newest'
