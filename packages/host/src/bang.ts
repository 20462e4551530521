import type { Message } from '@atrium/protocol/chat/message'
import type { ToolCallResult, ToolResultContent } from '@atrium/protocol/chat/tool'
import type { Agent, Outcome } from './ports/agent.ts'
import { compact } from '@atrium/protocol/update'

/** A person's message that begins with this is a line for the shell, whichever agent the session has. */
export const commandPrefix = '!'

/** The line that a message is; nothing where it is for the agent. */
export function lineOf({ text, origin }: Message): string | undefined {
  if (origin.kind !== 'user' || !text.startsWith(commandPrefix)) return undefined
  return text.slice(commandPrefix.length).trim() || undefined
}

/** Runs a line in place of an agent: a person has typed it, so nobody is asked. */
export const bang: Agent = {
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
    const shown = { type: 'terminal', resource: terminal, title: 'Terminal', isPty: true } as const
    yield { type: 'chat/toolCallContentChanged', toolCallId, content: [shown] }
    const outcome = await done
    yield { type: 'chat/toolCallComplete', toolCallId, result: resultOf(outcome, shown) }
  },
}

function resultOf({ exitCode, output, truncated }: Outcome, shown: TerminalShown): ToolCallResult {
  const preview = output.slice(-previewLength)
  const result = compact<NonNullable<TerminalShown['result']>>({
    exitCode,
    preview,
    truncated: truncated || preview.length < output.length || undefined,
  })
  const success = exitCode === 0
  const ending = exitCode === undefined ? 'was ended' : `ended with ${exitCode}`
  return compact<ToolCallResult>({
    success,
    pastTenseMessage: success ? 'Ran the command' : `Ran the command, which ${ending}`,
    content: [
      { ...shown, result },
      { type: 'text', text: output },
    ],
    error: success ? undefined : { message: `The command ${ending}` },
  })
}

type TerminalShown = Extract<ToolResultContent, { readonly type: 'terminal' }>

const previewLength = 1024
