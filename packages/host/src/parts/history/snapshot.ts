import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import type { StateAtParams } from '@atrium/protocol/root/past'
import { makeShown, shownRows, withShownActiveTurn } from '../../channels/oversized.ts'
import type { Core } from '../../kernel/core.ts'
import { unloaded } from '../../kernel/log/channel.ts'
import { lengthOf } from '../../kernel/log/rows.ts'
import type { ChannelHistory } from './channel-history.ts'
import { shownChat } from './hidden.ts'

/** A state as it is shown. `older`: the id of the oldest turn in it, if the chat had turns before that one. */
export interface ShownState {
  readonly state: object
  readonly older?: string
}

const defaultTurns = 50

/** Makes the form of a state that clients get: with some turns only, and with references in place of very long texts. */
export async function shownState(
  core: Core,
  { uri, kind, takenMessages }: ChannelHistory,
  state: unknown,
  params: StateAtParams,
): Promise<ShownState> {
  // The cast is safe: every state is an object, and a reducer of chats has made this one.
  if (kind.name !== 'chat') return { state: state as object }
  const chat = shownChat(state as ChatState, takenMessages)
  const { turns, older } = windowOf(core, chat.turns, params)
  const { activeTurn } = chat
  await makeShown(core, unloaded(uri, 'chat'), activeTurn ? [...turns, activeTurn] : turns)
  const shown = withShownActiveTurn({ ...chat, turns: shownRows(turns) })
  return { state: shown, ...(older !== undefined && { older }) }
}

/** Selects the newest turns, or the turns before a given one: as many as were asked for and fit into a page. */
function windowOf(
  { limits }: Core,
  turns: readonly Turn[],
  { turns: most = defaultTurns, before }: StateAtParams,
): { readonly turns: readonly Turn[]; readonly older: string | undefined } {
  const end = before === undefined ? turns.length : turns.findIndex(({ id }) => id === before)
  if (end < 0) throw AhpError.invalidParams('x-atrium/stateAt: at this number there is no such turn')
  let length = 0
  let from = end
  for (; from > 0 && end - from < most; from--) {
    const turn = turns[from - 1]
    length += turn ? lengthOf(turn) : 0
    if (length > limits.turnsPageLength && from < end) break
  }
  return { turns: turns.slice(from, end), older: from > 0 ? (turns[from]?.id ?? before) : undefined }
}
