import type { LanguageModelV3Message, LanguageModelV3ToolResultPart } from '@ai-sdk/provider'
import { streamModel } from './request.ts'
import type { Request } from './request.ts'
import { summaryRequest } from './prompt.ts'
import type { StepResult } from './stream-step.ts'
import { wellFormed } from './text.ts'

export interface Summary extends Pick<StepResult, 'usage'> {
  readonly text: string
}

/**
 * Lets the model summarize a conversation. Only the last `maxLength` characters are sent, because more might not fit the
 * context window.
 */
export async function summarize(
  messages: readonly LanguageModelV3Message[],
  maxLength: number,
  request: Omit<Request, 'messages' | 'tools' | 'offered' | 'system'>,
): Promise<Summary> {
  const transcript = wellFormed(messages.map(transcriptOf).join('\n\n').slice(-maxLength))
  const system = 'You write down what others need to know to go on with a piece of work.'
  const question = `<conversation>\n${transcript}\n</conversation>\n\n${summaryRequest}`
  let text = ''
  let usage: StepResult['usage']
  for await (const part of streamModel({
    ...request,
    system,
    messages: [{ role: 'user', content: [{ type: 'text', text: question }] }],
    tools: [],
    offered: [],
  })) {
    if (part.type === 'text-delta') text += part.delta
    if (part.type === 'finish') usage = part.usage
    if (part.type === 'error') throw part.error
  }
  if (text.trim() === '') throw new Error('the summary is empty')
  return { text, ...(usage && { usage }) }
}

/**
 * Converts a message to plain text. Tool calls and results must become text, because they are valid only in a request that
 * declares tools.
 */
function transcriptOf({ role, content }: LanguageModelV3Message): string {
  if (typeof content === 'string') return `${role}: ${content}`
  const parts = content.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type === 'tool-call') return `[calls ${part.toolName} ${JSON.stringify(part.input)}]`
    if (part.type === 'tool-result') return outputText(part.output)
    return `[${part.type}]`
  })
  return `${role}: ${parts.join('\n')}`
}

function outputText(output: LanguageModelV3ToolResultPart['output']): string {
  if (output.type === 'text') return output.value
  const parts = output.type === 'content' ? output.value : []
  return parts.map((each) => (each.type === 'text' ? each.text : `[${each.type}]`)).join('\n')
}
