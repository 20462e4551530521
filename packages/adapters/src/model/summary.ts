import type { LanguageModelV3Message } from '@ai-sdk/provider'
import { asked } from './request.ts'
import type { Request } from './request.ts'
import { summaryRequest } from './prompt.ts'
import type { Stepped } from './stream-step.ts'
import { sayable } from './text.ts'

export interface Summary extends Pick<Stepped, 'usage'> {
  readonly text: string
}

/** A conversation in short, by the model itself. Of one that is longer than it can read, the newest. */
export async function summaryOf(
  messages: readonly LanguageModelV3Message[],
  most: number,
  request: Omit<Request, 'messages' | 'tools' | 'system'>,
): Promise<Summary> {
  const transcript = sayable(messages.map(lines).join('\n\n').slice(-most))
  const system = 'You write down what others need to know to go on with a piece of work.'
  const question = `<conversation>\n${transcript}\n</conversation>\n\n${summaryRequest}`
  let text = ''
  let usage: Stepped['usage']
  for await (const part of asked({
    ...request,
    system,
    messages: [{ role: 'user', content: [{ type: 'text', text: question }] }],
    tools: [],
  })) {
    if (part.type === 'text-delta') text += part.delta
    if (part.type === 'finish') usage = part.usage
    if (part.type === 'error') throw part.error
  }
  if (text.trim() === '') throw new Error('there is no summary')
  return { text, ...(usage && { usage }) }
}

/** As a text: calls and results among what is sent would ask for tools. */
function lines({ role, content }: LanguageModelV3Message): string {
  if (typeof content === 'string') return `${role}: ${content}`
  const told = content.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type === 'tool-call') return `[calls ${part.toolName} ${JSON.stringify(part.input)}]`
    if (part.type === 'tool-result') return part.output.type === 'text' ? part.output.value : ''
    return `[${part.type}]`
  })
  return `${role}: ${told.join('\n')}`
}
