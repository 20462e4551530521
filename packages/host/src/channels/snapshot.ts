import type { Lens } from '@atrium/protocol/versions/lens'
import type { Channel } from '../log/channel.ts'
import { rowsIn } from '../log/channel-rows.ts'
import type { Row } from '../log/channel-rows.ts'
import type { Core } from '../core/core.ts'
import { cursorBefore } from './cursor.ts'
import { committedEntryOf, derived } from './derived.ts'
import { lengthOf } from '../log/rows.ts'
import { shownFormsMade, shownRows } from './oversized.ts'

/** The part of a channel that a subscriber asks for: the number of newest turns. */
export interface View {
  readonly turns?: number
}

/**
 * How snapshots are written for one link: with the client's name for the channel, as JSON, and in the client's protocol
 * version.
 */
interface SnapshotDialect {
  readonly label?: string | undefined
  readonly lens?: Lens | undefined
}

/** Returns a snapshot as JSON: the committed state, completed by `derived`, at the committed sequence number. */
export function snapshotText(
  core: Core,
  channel: Channel,
  view: View = {},
  { label = channel.label, lens }: SnapshotDialect = {},
): string {
  const { text } = cachedState(core, channel, view, lens)
  return `{"resource":${label},"state":${text},"fromSeq":${core.log.committedSeq}}`
}

/** Returns the number of rows that are older than those in the channel's snapshot. */
export function turnsLeftOut(core: Core, channel: Channel, view: View, lens: Lens | undefined): number {
  return cachedState(core, channel, view, lens).leftOut
}

/**
 * Returns whether a snapshot has room for rows that are not in memory. Without these rows the snapshot is still correct: it
 * has a cursor to them.
 */
export function needsRows(core: Core, channel: Channel, { turns = Infinity }: View = {}): boolean {
  if (channel.committedOlder === 0) return false
  const rows = channel.rows(channel.committed)
  const length = rows.reduce((sum, row) => sum + lengthOf(row), 0)
  return rows.length < turns && length < core.limits.turnsLength
}

/** The state in a snapshot, as JSON. */
interface SnapshotState {
  readonly text: string
  /** Number of rows that are older than those in the text. */
  readonly leftOut: number
}

/**
 * Renders the state with its newest rows, and with a cursor to the others. The number of rows is limited by `turns` and by
 * the length of a response.
 */
function stateText(core: Core, channel: Channel, turns = Infinity, lens: Lens | undefined): SnapshotState {
  const whole = withShownRows(channel, derived(core, channel))
  const state: Readonly<Record<string, unknown>> = {
    ...(lens ? lens.stateDown(channel.kindName, whole) : whole),
  }
  const { rows: key } = channel.kind
  if (key === undefined) return { text: JSON.stringify(state), leftOut: 0 }
  const rows = channel.rows(state)
  const texts = newestTexts(rows, turns, core.limits.turnsLength)
  const leftOut = rows.length - texts.length + channel.committedOlder
  const oldest = texts.length === 0 ? undefined : rows[rows.length - texts.length]
  const { [key]: _, ...rest } = state
  const others = JSON.stringify(leftOut === 0 ? rest : { ...rest, turnsNextCursor: cursorBefore(oldest) })
  const text = `{${JSON.stringify(key)}:[${texts.join()}]${others === '{}' ? '}' : `,${others.slice(1)}`}`
  return { text, leftOut }
}

/** Puts the shown forms of large rows into a state. */
function withShownRows({ kind }: Channel, state: object): object {
  const { rows: key } = kind
  if (key === undefined) return state
  const rows = rowsIn(key, state)
  const forms = shownRows(rows)
  return forms === rows ? state : { ...state, [key]: forms }
}

function newestTexts(rows: readonly Row[], max: number, maxLength: number): readonly string[] {
  const texts: string[] = []
  let length = 0
  for (let at = rows.length - 1; at >= 0 && texts.length < max; at--) {
    const text = JSON.stringify(rows[at])
    length += text.length
    if (length > maxLength && texts.length > 0) break
    texts.push(text)
  }
  return texts.toReversed()
}

/** Renders a state once for each view, because many clients may reconnect at once and ask for the same text (F-21). */
function cachedState(core: Core, channel: Channel, wanted: View, lens: Lens | undefined): SnapshotState {
  // An uncommitted action may need any row in memory, so the snapshot then contains all of them.
  const view = channel.lastRowNeeded > core.log.committedSeq ? {} : wanted
  const last = cache.get(channel)
  const { committed } = channel
  const entry = committedEntryOf(core, channel)
  const forms = shownFormsMade()
  const same = last && last.committed === committed && last.entry === entry && last.forms === forms
  const fresh = same && last.states.length < maxCachedViews
  const states = fresh ? last.states : []
  if (!fresh) cache.set(channel, { committed, entry, forms, states })
  const { turns } = view
  const known = states.find((one) => one.turns === turns && one.lens === lens)
  if (known) return known
  const state = { ...stateText(core, channel, turns, lens), turns, lens }
  states.push(state)
  return state
}

/** The maximum number of cached views of a channel. Clients choose their views, so the number must be bounded. */
const maxCachedViews = 5

/** The rendered states of a channel, and the values from which they were rendered: the state, the session's entry, shown forms. */
interface CachedStates {
  readonly committed: unknown
  readonly entry: unknown
  readonly forms: number
  readonly states: (SnapshotState & { readonly turns: number | undefined; readonly lens: Lens | undefined })[]
}

const cache = new WeakMap<Channel, CachedStates>()
