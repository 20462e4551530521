import { plainLine } from '@atrium/protocol/text/plain'
import { fieldsOf } from '../process/schema.ts'
import type { ToolCallUpdate } from '../process/schema.ts'

/**
 * Returns what a worker of the agent has begun to do, as a sentence for users. goose reports the calls of its workers in the call that
 * has started the worker, and asks nobody about them (N52.5). Undefined for any other update.
 */
export function workerCallIn({ _meta }: ToolCallUpdate): string | undefined {
  const { params } = fieldsOf(fieldsOf(_meta)['toolNotification'])
  const { type, tool_call: call } = fieldsOf(fieldsOf(params)['data'])
  const { name, arguments: input } = fieldsOf(call)
  if (type !== 'subagent_tool_request' || typeof name !== 'string') return undefined
  const shown = plainLine(JSON.stringify(input ?? {}), inputLength)
  return `A worker of the agent uses ${code(plainLine(name, nameLength))} without asking: ${code(shown)}`
}

/** Returns a text as code of Markdown, which it cannot end. */
function code(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``
}

/** In characters. */
const nameLength = 100
const inputLength = 1000
