import type { Action, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { DamagedChannel, LoadedChannel } from '../ports/log.ts'

/** A channel whose stored history cannot be trusted. It is set aside, and nothing of it is deleted. */
export class Damaged extends Error {
  override readonly name = 'Damaged'
}

/** A channel's state from what is stored of it, and the ids of the rows that come before those in it. */
interface Rebuilt {
  readonly kind: ChannelKind
  readonly state: unknown
  readonly older: readonly string[]
  /** So many rows came after the head. */
  readonly newer: number
}

/** The newest head, and what came after folded over it. */
export function rebuild(uri: Uri, loaded: LoadedChannel | DamagedChannel): Rebuilt {
  if ('damaged' in loaded) throw new Damaged(`the stored history of ${uri} is damaged: ${loaded.damaged}`)
  const kind = kindNamed(loaded.kind)
  if (!kind)
    throw new Damaged(`the stored history of ${uri} is of a kind this build does not know: ${loaded.kind}`)
  try {
    const { first, older, count } = beginning(kind, loaded)
    const state = loaded.envelopes.reduce<unknown>(
      (before, envelope) => kind.reduce(before, JSON.parse(envelope.action) as Action),
      first,
    )
    const { rows } = kind
    const there = rows === undefined ? [] : ((state as Record<string, readonly unknown[]>)[rows] ?? [])
    return { kind, state, older, newer: Math.max(0, older.length + there.length - count) }
  } catch (error) {
    throw new Damaged(`the stored history of ${uri} cannot be folded: ${String(error)}`)
  }
}

/**
 * Of how many of the newest rows the texts are needed, at least. Those that are newer than the head come out of the fold;
 * but the last that it had must be there, because an action that comes after may name it.
 */
export function leastTail(loaded: LoadedChannel | DamagedChannel): number {
  const kind = 'damaged' in loaded ? undefined : kindNamed(loaded.kind)
  if ('damaged' in loaded || loaded.rows.length === loaded.rowIds.length || kind?.rows === undefined) return 0
  const count = rowCount(kind.rows, JSON.parse(loaded.state) as Record<string, unknown>)
  return count === 0 ? 0 : loaded.rowIds.length - count + 1
}

/** The state to fold from. A head says how many rows it had: since then their list only grew. */
function beginning(kind: ChannelKind, { state: text, rowIds, rows, fromCreation }: LoadedChannel) {
  const state = JSON.parse(text) as Record<string, unknown>
  if (kind.rows === undefined || fromCreation) return { first: state, older: [], count: 0 }
  const count = rowCount(kind.rows, state)
  if (count > rowIds.length) throw new Error(`it had ${count} rows, and has ${rowIds.length}`)
  const before = Math.min(count, rowIds.length - rows.length)
  const there = rows.slice(0, count - before).map((row) => JSON.parse(row) as unknown)
  return { first: { ...state, [kind.rows]: there }, older: rowIds.slice(0, before), count }
}

function rowCount(key: string, head: Record<string, unknown>): number {
  return Number(head[key] ?? 0)
}
