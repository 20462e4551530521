import type { KindName } from '@atrium/protocol/reducers'
import type { Lens } from '@atrium/protocol/versions/lens'
import type { Channel } from '../log/channel.ts'
import type { Row } from '../log/channel-rows.ts'
import type { Core } from '../core/core.ts'
import { cursorBefore } from './cursor.ts'
import { committedEntryOf, derived } from './derived.ts'
import { lengthOf } from '../log/rows.ts'

/** How much of a channel a subscriber wants to see. */
export interface View {
  readonly turns?: number
}

/** How a link speaks: its name for the channel, as JSON, and its generation. */
interface SnapshotDialect {
  readonly label?: string | undefined
  readonly lens?: Lens | undefined
}

/** A snapshot's JSON: the told state, with what no action can change filled in, at the told number. */
export function snapshotText(
  core: Core,
  channel: Channel,
  view: View = {},
  tongue: SnapshotDialect = {},
): string {
  const { text } = cachedState(core, channel, view, tongue.lens)
  return `{"resource":${tongue.label ?? channel.label},"state":${text},"fromSeq":${core.log.committedSeq}}`
}

/** How many of a channel's rows are older than those that its snapshot shows. */
export function turnsLeftOut(core: Core, channel: Channel, view: View, lens: Lens | undefined): number {
  return cachedState(core, channel, view, lens).leftOut
}

/** Whether a snapshot could show more than is in memory. Made without that, it is right and has a cursor. */
export function needsRows(core: Core, channel: Channel, { turns = Infinity }: View = {}): boolean {
  if (channel.committedOlder === 0) return false
  const rows = channel.rows(channel.committed)
  const length = rows.reduce((sum, row) => sum + lengthOf(row), 0)
  return rows.length < turns && length < core.limits.turnsLength
}

/** A state as it is handed out. */
interface SnapshotState {
  readonly text: string
  /** So many of the rows are older than those in it. */
  readonly leftOut: number
}

/** The newest rows, as many as are wanted and as an answer can hold, and a cursor to the rest. */
function stateText(core: Core, channel: Channel, turns = Infinity, lens: Lens | undefined): SnapshotState {
  const whole = derived(core, channel)
  const state = (lens ? lens.stateDown(channel.kind.name as KindName, whole) : whole) as Record<
    string,
    unknown
  >
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

function newestTexts(rows: readonly Row[], most: number, longest: number): readonly string[] {
  const texts: string[] = []
  let length = 0
  for (let at = rows.length - 1; at >= 0 && texts.length < most; at--) {
    const text = JSON.stringify(rows[at])
    length += text.length
    if (length > longest && texts.length > 0) break
    texts.push(text)
  }
  return texts.toReversed()
}

/** Many who come back at once are handed the same state: its text is made once for each view (F-21). */
function cachedState(core: Core, channel: Channel, wanted: View, lens: Lens | undefined): SnapshotState {
  // A change that is not told yet may need any row that is in memory.
  const view = channel.lastRowNeeded > core.log.committedSeq ? {} : wanted
  const last = cache.get(channel)
  const beside = committedEntryOf(core, channel)
  const fresh =
    last && last.told === channel.committed && last.beside === beside && last.shown.length < maxCachedViews
  const all = fresh ? last.shown : []
  if (!fresh) cache.set(channel, { told: channel.committed, beside, shown: all })
  const { turns } = view
  const known = all.find((one) => one.turns === turns && one.lens === lens)
  if (known) return known
  const one = { ...stateText(core, channel, turns, lens), turns, lens }
  all.push(one)
  return one
}

/** A few only: how many views there are is up to the clients. */
const maxCachedViews = 5

interface CachedStates {
  readonly told: unknown
  readonly beside: unknown
  readonly shown: (SnapshotState & { readonly turns: number | undefined; readonly lens: Lens | undefined })[]
}

const cache = new WeakMap<Channel, CachedStates>()
