import type { Message } from '@atrium/protocol/chat/message'
import { commandResult, terminalShown } from './command-result.ts'
import type { Agent } from '../ports/agent.ts'

/** A person's message that begins with this is a line for the shell, whichever agent the session has. */
export const commandPrefix = '!'

/** The line that a message is; nothing where it is for the agent. */
export function lineOf({ text, origin }: Message): string | undefined {
  if (origin.kind !== 'user' || !text.startsWith(commandPrefix)) return undefined
  return text.slice(commandPrefix.length).trim() || undefined
}

/** Runs a line in place of an agent: a person has typed it, so nobody is asked. */
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
