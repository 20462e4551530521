import type { Message } from '@atrium/protocol/chat/message'
import { commandResult, terminalShown } from './command-result.ts'
import type { Agent } from '../../ports/agent.ts'

/** A user's message that begins with this prefix is a shell command, whichever agent the session has. */
export const commandPrefix = '!'

/** Returns the shell command in a message; undefined if the message is for the agent. */
export function lineOf({ text, origin }: Message): string | undefined {
  if (origin.kind !== 'user' || !text.startsWith(commandPrefix)) return undefined
  return text.slice(commandPrefix.length).trim() || undefined
}

/** Runs a shell command in the place of an agent. The user typed the command, so no approval is needed. */
export const shellAgent: Agent = {
  info: { provider: 'shell', displayName: 'The shell', description: '', models: [] },
  resumes: false,
  async *run(chat) {
    const { activeTurn } = chat.state
    const line = activeTurn && lineOf(activeTurn.message)
    if (line === undefined) return
    const toolCallId = `${chat.turnId}-shell`
    yield {
      type: 'chat/toolCallStart',
      toolCallId,
      toolName: 'terminal',
      displayName: 'Terminal',
      intention: line,
    }
    yield {
      type: 'chat/toolCallReady',
      toolCallId,
      invocationMessage: line,
      toolInput: line,
      confirmed: 'not-needed',
    }
    const { terminal, done } = await chat.run({ toolCallId, line })
    yield { type: 'chat/toolCallContentChanged', toolCallId, content: [terminalShown(terminal)] }
    yield { type: 'chat/toolCallComplete', toolCallId, result: commandResult(await done, terminal) }
  },
}
