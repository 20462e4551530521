import type { Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { DamagedChannel, LoadedChannel } from '../../ports/log.ts'
import { rowsIn } from './channel-rows.ts'
import { storedAction } from './entry.ts'

/**
 * The error for a channel whose stored history cannot be trusted. The host does not use such a channel, and deletes nothing
 * of it.
 */
export class Damaged extends Error {
  override readonly name = 'Damaged'
}

/** The state of a channel, rebuilt from what is stored. */
interface Rebuilt {
  readonly kind: ChannelKind
  readonly state: unknown
  /** The ids of the rows that come before those in the state. */
  readonly older: readonly string[]
  /** The number of rows that are newer than the stored head. */
  readonly newer: number
}

/**
 * Applies the stored actions after the newest head to that head, one after the other. Throws `Damaged` if that fails.
 */
export function rebuild(uri: Uri, loaded: LoadedChannel | DamagedChannel): Rebuilt {
  if ('damaged' in loaded) throw new Damaged(`the stored history of ${uri} is damaged: ${loaded.damaged}`)
  const kind = kindNamed(loaded.kind)
  if (!kind)
    throw new Damaged(`the stored history of ${uri} is of a kind this build does not know: ${loaded.kind}`)
  try {
    const { first, older, count } = headState(kind, loaded)
    const state = loaded.envelopes.reduce<unknown>(
      // The cast is safe: a schema had checked each action before it was stored.
      (before, envelope) => kind.reduce(before, storedAction(envelope.action)),
      first,
    )
    const inMemory = rowsIn(kind.rows, state).length
    return { kind, state, older, newer: Math.max(0, older.length + inMemory - count) }
  } catch (error) {
    throw new Damaged(`the stored history of ${uri} cannot be folded: ${String(error)}`)
  }
}

/**
 * The minimum number of newest rows that must be loaded with their texts: the last row of the stored head, because an
 * action after the head may name it, and all rows after that row.
 */
export function leastTail(loaded: LoadedChannel | DamagedChannel): number {
  if ('damaged' in loaded || loaded.rows.length === loaded.rowIds.length) return 0
  const key = kindNamed(loaded.kind)?.rows
  if (key === undefined) return 0
  const count = rowCount(key, parsedHead(loaded))
  return count === 0 ? 0 : loaded.rowIds.length - count + 1
}

/**
 * The state to which the stored actions are applied. A stored head contains only the number of its rows. Since that
 * head, rows were only added, so the first `count` rows in the store are those of the head.
 */
function headState(kind: ChannelKind, loaded: LoadedChannel) {
  const { rowIds, rows, fromCreation } = loaded
  const state = parsedHead(loaded)
  if (kind.rows === undefined || fromCreation) return { first: state, older: [], count: 0 }
  const count = rowCount(kind.rows, state)
  if (count > rowIds.length) throw new Error(`its head has ${count} rows, and the store has ${rowIds.length}`)
  const before = Math.min(count, rowIds.length - rows.length)
  const inMemory = rows.slice(0, count - before).map((row): unknown => JSON.parse(row))
  return { first: { ...state, [kind.rows]: inMemory }, older: rowIds.slice(0, before), count }
}

/** Parses the stored state. It is the JSON of an object, whatever the kind of the channel. */
function parsedHead({ state }: LoadedChannel): Record<string, unknown> {
  return JSON.parse(state)
}

function rowCount(key: string, head: Record<string, unknown>): number {
  return Number(head[key] ?? 0)
}
