import type { ResponsePart } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type {
  LanguageModelV3Message,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolResultPart,
} from '@ai-sdk/provider'
import { userMessage } from './message.ts'
import { clipped, sayable } from './text.ts'
import { noteOf } from './meta.ts'
import type { Reading, Told } from './parts.ts'
import { resultOf } from './result.ts'
import { inputSent, toolOf } from './tools.ts'

/** Turns as a model is sent them, made of nothing but their state. Thoughts are not sent back. */
export async function conversation(
  turns: readonly Told[],
  reading: Reading,
): Promise<LanguageModelV3Message[]> {
  const messages: LanguageModelV3Message[] = []
  // Ids of calls are the client's, and may be anything; these are good for every vendor, and the same each time.
  let calls = 0
  for (const turn of turns) {
    messages.push(await userMessage(turn.message, reading))
    const answer = new Answer(messages)
    for (const part of turn.responseParts) {
      if (part.kind === 'markdown' && part.content.trim() !== '')
        answer.text(clipped(sayable(part.content), reading.most))
      const steered = part.kind === 'systemNotification' ? noteOf(part).steering : undefined
      if (steered) {
        answer.end()
        messages.push(await userMessage(steered.message, reading))
      }
      if (part.kind !== 'toolCall' || isUnmade(part.toolCall)) continue
      const result = clipped(sayable(await resultOf(part.toolCall, turn, reading)), reading.most)
      answer.call(part.toolCall, `call_${++calls}`, result)
    }
    answer.end()
  }
  return messages
}

/** Whether the last that a turn says is text that may go on. */
export function endsInText(parts: readonly ResponsePart[]): boolean {
  const last = parts.findLast(
    (part) =>
      part.kind === 'markdown' ||
      (part.kind === 'toolCall' && !isUnmade(part.toolCall)) ||
      (part.kind === 'systemNotification' && noteOf(part).steering !== undefined),
  )
  return last?.kind === 'markdown' && last.content.trim() !== ''
}

/** What was cut off before it was known what it was to do: for the model it never was. */
function isUnmade(call: ToolCallState): boolean {
  return call.status === 'streaming' || (call.status === 'cancelled' && call.toolInput === undefined)
}

/** What the model said and was answered between two messages of others: texts, then calls, then their results. */
class Answer {
  readonly #messages: LanguageModelV3Message[]
  #said: (LanguageModelV3TextPart | LanguageModelV3ToolCallPart)[] = []
  #results: LanguageModelV3ToolResultPart[] = []
  #step: unknown

  constructor(messages: LanguageModelV3Message[]) {
    this.#messages = messages
  }

  text(text: string): void {
    if (this.#results.length > 0) this.end()
    this.#said.push({ type: 'text', text })
  }

  call(call: ToolCallState, toolCallId: string, result: string): void {
    const given = 'toolInput' in call && typeof call.toolInput === 'string' ? call.toolInput : ''
    const input = inputSent(toolOf(call.toolName), given)
    // It may be a tool of somebody else, or one that there is not.
    const toolName = call.toolName.replaceAll(/[^\w-]/g, '_').slice(0, 64) || '_'
    const { step } = noteOf(call)
    if (this.#results.length > 0 && step !== this.#step) this.end()
    this.#step = step
    this.#said.push({ type: 'tool-call', toolCallId, toolName, input })
    this.#results.push({ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: result } })
  }

  end(): void {
    if (this.#said.length > 0) this.#messages.push({ role: 'assistant', content: this.#said })
    if (this.#results.length > 0) this.#messages.push({ role: 'tool', content: this.#results })
    this.#said = []
    this.#results = []
  }
}
