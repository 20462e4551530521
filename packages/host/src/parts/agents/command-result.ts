import type { ToolCallResult, ToolResultContent } from '@atrium/protocol/chat/tool'
import { compact } from '@atrium/protocol/update'
import type { CommandOutcome } from '../../ports/agent.ts'

type TerminalContent = Extract<ToolResultContent, { readonly type: 'terminal' }>

/** The content of a tool call that shows the terminal of its command. */
export function terminalShown(resource: string): TerminalContent {
  return { type: 'terminal', resource, title: 'Terminal', isPty: true }
}

/**
 * Makes the result of a shell command: the terminal with its exit code, and the output as text. A command that runs on in the background
 * is a success so far.
 */
export function commandResult(
  { exitCode, output, truncated, ended }: CommandOutcome,
  terminal: string,
): ToolCallResult {
  const preview = output.slice(-previewLength)
  const result = compact<NonNullable<TerminalContent['result']>>({
    exitCode,
    preview,
    truncated: truncated || preview.length < output.length || undefined,
  })
  if (!ended) return leftRunning(output, { ...terminalShown(terminal), result })
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

function leftRunning(output: string, shown: TerminalContent): ToolCallResult {
  const text =
    `${output.trimEnd()}\n[It runs on in the background; everybody can watch and end it.]`.trimStart()
  return {
    success: true,
    pastTenseMessage: 'Left the command running',
    content: [shown, { type: 'text', text }],
  }
}

const previewLength = 1024
/** The first line of an output that is not complete. */
const missing = '[Some of the output is missing.]'
