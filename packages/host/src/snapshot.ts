import type { RootState } from '@atrium/protocol/root/state'
import type { Channel, Row } from './channel.ts'
import type { Core } from './core.ts'
import { cursorBefore } from './cursor.ts'
import { derivedRoot } from './root.ts'
import { rowLength } from './rows.ts'

/** How much of a channel a subscriber wants to see. */
export interface View {
  readonly turns?: number
}

/** A snapshot's JSON: the told state, with what no action can change filled in, at the told number. */
export function snapshotText(core: Core, channel: Channel, view: View = {}): string {
  return `{"resource":${channel.label},"state":${stateText(core, channel, view)},"fromSeq":${core.log.told}}`
}

/** Whether a snapshot could show more than is in memory. Made without that, it is right and has a cursor. */
export function needsRows(core: Core, channel: Channel, { turns = Infinity }: View = {}): boolean {
  if (channel.older === 0) return false
  const rows = channel.rows(channel.told)
  const length = rows.reduce((sum, row) => sum + rowLength(row), 0)
  return rows.length < turns && length < core.limits.turnsLength
}

function derived(core: Core, { kind, told }: Channel): unknown {
  return kind.name === 'root' ? derivedRoot(core, told as RootState) : told
}

/** The newest rows, as many as are wanted and as an answer can hold, and a cursor to the rest. */
function shownText(core: Core, channel: Channel, { turns = Infinity }: View): string {
  const state = derived(core, channel) as Record<string, unknown>
  const { rows: key } = channel.kind
  if (key === undefined) return JSON.stringify(state)
  const rows = channel.rows(state)
  const texts = newestTexts(rows, turns, core.limits.turnsLength)
  const whole = texts.length === rows.length && channel.toldOlder === 0
  const oldest = texts.length === 0 ? undefined : rows[rows.length - texts.length]
  const { [key]: _, ...rest } = state
  const others = JSON.stringify(whole ? rest : { ...rest, turnsNextCursor: cursorBefore(oldest) })
  return `{${JSON.stringify(key)}:[${texts.join()}]${others === '{}' ? '}' : `,${others.slice(1)}`}`
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
function stateText(core: Core, channel: Channel, view: View): string {
  const texts = textsOf(channel)
  const text = texts.get(view.turns) ?? shownText(core, channel, view)
  texts.set(view.turns, text)
  return text
}

/** The texts of its present state by view. A few only: how many views there are is up to the clients. */
function textsOf(channel: Channel): Map<number | undefined, string> {
  const last = made.get(channel)
  if (last && last.told === channel.told && last.texts.size <= 4) return last.texts
  const texts = new Map<number | undefined, string>()
  made.set(channel, { told: channel.told, texts })
  return texts
}

interface Made {
  readonly told: unknown
  readonly texts: Map<number | undefined, string>
}

const made = new WeakMap<Channel, Made>()
