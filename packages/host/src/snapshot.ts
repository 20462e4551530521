import type { ChannelKind } from '@atrium/protocol/kind'
import type { RootState } from '@atrium/protocol/root/state'
import type { Channel } from './channel.ts'
import type { Core } from './core.ts'
import { derivedRoot } from './root.ts'

/** How much of a channel a subscriber wants to see. */
export interface View {
  readonly turns?: number
}

/** A snapshot's JSON: the told state, with what no action can change filled in, at the told number. */
export function snapshotText(core: Core, channel: Channel, view: View = {}): string {
  return `{"resource":${channel.label},"state":${stateText(core, channel, view)},"fromSeq":${core.log.told}}`
}

function derived(core: Core, { kind, told }: Channel): unknown {
  return kind.name === 'root' ? derivedRoot(core, told as RootState) : told
}

/** The newest rows only, and a cursor to the rest. */
function cut(kind: ChannelKind, state: unknown, { turns }: View): unknown {
  const rows =
    kind.rows === undefined ? undefined : (state as Record<string, readonly { id: string }[]>)[kind.rows]
  if (turns === undefined || !kind.rows || !rows || rows.length <= turns) return state
  const kept = turns === 0 ? [] : rows.slice(-turns)
  const oldest = rows[rows.length - turns]
  return { ...(state as object), [kind.rows]: kept, turnsNextCursor: oldest?.id ?? rows.at(-1)?.id }
}

/** Many who come back at once are handed the same state: its text is made once for each view (F-21). */
function stateText(core: Core, channel: Channel, view: View): string {
  const texts = textsOf(channel)
  const text = texts.get(view.turns) ?? JSON.stringify(cut(channel.kind, derived(core, channel), view))
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
