import type { ChatState } from '@atrium/protocol/chat/state'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Agent, Task } from '../../ports/agent.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { ChatContext } from '../tools/approval.ts'
import type { Previews } from '../tools/previewed.ts'

/** Creates a worker's chat for a task of a turn, and starts the worker's turn. */
export type Spawn = (
  core: Core,
  parent: Channel<'chat'>,
  task: Task,
) => { worker: Channel<'chat'>; turnId: string }

/** The chat that a turn is in, and the agent that does the turn. */
export interface TurnContext extends ChatContext {
  readonly agent: Agent
  readonly spawn: Spawn
}

/** A turn in progress, as far as its agent's `Chat` needs it. */
export interface RunningTurn extends TurnContext {
  readonly turnId: string
  /** Aborted when the turn has ended. */
  readonly signal: AbortSignal
  readonly previews: Previews
  /** Appends the batched text, so that it precedes whatever is appended next. */
  readonly flushText: () => void
  /** Stores the text that would make the state of the chat too long, and appends references to it. */
  readonly publishRest: () => Promise<void>
  /** Texts that hooks give to the agent. */
  readonly hookContext: () => readonly string[]
}

/** Resolves with the first committed state that meets the condition. `chat` may be the chat of a worker. */
export function when(
  turn: RunningTurn,
  chat: Channel<'chat'>,
  condition: (state: ChatState) => boolean,
): Promise<ChatState> {
  const { log } = turn.core
  const exists = () => log.channel(chat.uri) === chat
  const settled = (state: ChatState) => turn.signal.aborted || !exists() || condition(state)
  const found = log.when(chat, settled).then(() => {
    requireRunning(turn)
    const state = chat.committedState
    if (!exists() && !condition(state))
      throw new TurnFailed('workers', 'the chat of the worker was disposed of')
    return state
  })
  // Agents need not await the state: its rejection must not crash the host.
  found.catch(() => {})
  return found
}

export function requireRunning({ signal }: RunningTurn): void {
  if (signal.aborted) throw turnEnded()
}

export function turnEnded(): Error {
  return new Error('the turn is over')
}
