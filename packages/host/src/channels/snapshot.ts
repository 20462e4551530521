import type { Lens } from '@atrium/protocol/versions/lens'
import type { Channel } from '../log/channel.ts'
import type { Row } from '../log/channel-rows.ts'
import type { Core } from '../core/core.ts'
import { cursorBefore } from './cursor.ts'
import { committedEntryOf, derived } from './derived.ts'
import { lengthOf } from '../log/rows.ts'

/** The part of a channel that a subscriber asks for. */
export interface View {
  readonly turns?: number
}

/** The form of a link's snapshots: its name for the channel, as JSON, and its protocol version. */
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

/** Returns whether a snapshot could hold more rows than are in memory. Made without them, it is correct and has a cursor. */
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

/** Renders the state with its newest rows, as many as are wanted and as one response can hold, and a cursor to the others. */
function stateText(core: Core, channel: Channel, turns = Infinity, lens: Lens | undefined): SnapshotState {
  const whole = derived(core, channel)
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

/** Renders a state once for each view: many clients that come back at once get the same text (F-21). */
function cachedState(core: Core, channel: Channel, wanted: View, lens: Lens | undefined): SnapshotState {
  // An action that is not committed yet may need any row in memory.
  const view = channel.lastRowNeeded > core.log.committedSeq ? {} : wanted
  const last = cache.get(channel)
  const { committed } = channel
  const entry = committedEntryOf(core, channel)
  const fresh =
    last && last.committed === committed && last.entry === entry && last.states.length < maxCachedViews
  const states = fresh ? last.states : []
  if (!fresh) cache.set(channel, { committed, entry, states })
  const { turns } = view
  const known = states.find((one) => one.turns === turns && one.lens === lens)
  if (known) return known
  const state = { ...stateText(core, channel, turns, lens), turns, lens }
  states.push(state)
  return state
}

/** Clients choose their views, so the number of cached ones is bounded. */
const maxCachedViews = 5

/** The rendered states of a channel, and the two values that they were rendered from. */
interface CachedStates {
  readonly committed: unknown
  readonly entry: unknown
  readonly states: (SnapshotState & { readonly turns: number | undefined; readonly lens: Lens | undefined })[]
}

const cache = new WeakMap<Channel, CachedStates>()
