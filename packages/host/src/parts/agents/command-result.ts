import type { ToolCallResult, ToolResultContent } from '@atrium/protocol/chat/tool'
import { compact } from '@atrium/protocol/update'
import type { CommandOutcome } from '../../ports/agent.ts'

type TerminalContent = Extract<ToolResultContent, { readonly type: 'terminal' }>

/** The content of a tool call that shows the terminal of its command. */
export function terminalShown(resource: string): TerminalContent {
  return { type: 'terminal', resource, title: 'Terminal', isPty: true }
}

/** Makes the result of a shell command: the terminal with its exit code, and the output as text. */
export function commandResult(
  { exitCode, output, truncated }: CommandOutcome,
  terminal: string,
): ToolCallResult {
  const preview = output.slice(-previewLength)
  const result = compact<NonNullable<TerminalContent['result']>>({
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
      { ...terminalShown(terminal), result },
      { type: 'text', text: truncated ? `${missing}\n${output}` : output },
    ],
    error: success ? undefined : { message: `The command ${ending}` },
  })
}

const previewLength = 1024
/** The first line of an output that is not complete. */
const missing = '[Some of the output is missing.]'
