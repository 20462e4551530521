import type { ResponsePart } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type {
  LanguageModelV3Message,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolResultPart,
} from '@ai-sdk/provider'
import { userMessage } from './message.ts'
import { truncateMiddle, wellFormed } from './text.ts'
import { metaOf } from './meta.ts'
import { imagesOf } from './offered/result-content.ts'
import type { PartOptions, TurnContent } from './parts.ts'
import { resultText, storedText } from './result.ts'
import { inputForModel, findTool, ownName } from './tools.ts'

/** Converts turns to messages for a model. Only the state of the turns is read. Reasoning is not sent back to the model. */
export async function toMessages(
  turns: readonly TurnContent[],
  options: PartOptions,
): Promise<LanguageModelV3Message[]> {
  const messages: LanguageModelV3Message[] = []
  // Providers restrict the form of call ids, but ids in a chat may be any text. So calls are numbered, which gives the same
  // ids in every request.
  let calls = 0
  for (const turn of turns) {
    messages.push(await userMessage(turn.message, options))
    const answer = new AssistantMessages(messages)
    for (const part of turn.responseParts) {
      const text = await textOf(part, options)
      if (text.trim() !== '') answer.text(truncateMiddle(wellFormed(text), options.maxLength))
      const steering = part.kind === 'systemNotification' ? metaOf(part).steering : undefined
      if (steering) {
        answer.end()
        messages.push(await userMessage(steering.message, options))
      }
      if (part.kind !== 'toolCall' || hasNoInput(part.toolCall)) continue
      const result = truncateMiddle(
        wellFormed(await resultText(part.toolCall, turn, options)),
        options.maxLength,
      )
      const images = options.imageResults ? imagesOf(part.toolCall) : []
      const input =
        'toolInput' in part.toolCall ? await storedText(part.toolCall.toolInput, options.chat) : ''
      answer.call(part.toolCall, { toolCallId: `call_${++calls}`, input, result, images })
    }
    answer.end()
  }
  return messages
}

/**
 * Returns the text of a part, or an empty text for a part without text. A long text continues in parts of the kind
 * `contentRef`, which refer to stored text. Those that refer to reasoning have `_meta`, and count as parts without text.
 */
async function textOf(part: ResponsePart, { chat }: PartOptions): Promise<string> {
  if (part.kind === 'markdown') return part.content
  const isText = part.kind === 'contentRef' && part.contentType?.startsWith('text/markdown') === true
  return isText && !('_meta' in part) ? storedText(part, chat) : ''
}

/**
 * Whether a turn ends in text, apart from parts that are not sent to the model. An interrupted model can continue this text.
 */
export function endsInText(parts: readonly ResponsePart[]): boolean {
  const last = parts.findLast(
    (part) =>
      part.kind === 'markdown' ||
      (part.kind === 'toolCall' && !hasNoInput(part.toolCall)) ||
      (part.kind === 'systemNotification' && metaOf(part).steering !== undefined),
  )
  return last?.kind === 'markdown' && last.content.trim() !== ''
}

/** Whether a call was interrupted before its input was complete. The model is not told about such a call. */
function hasNoInput(call: ToolCallState): boolean {
  return call.status === 'streaming' || (call.status === 'cancelled' && call.toolInput === undefined)
}

interface CallTexts {
  readonly toolCallId: string
  readonly input: string
  readonly result: string
  readonly images: ReturnType<typeof imagesOf>
}

/**
 * Groups the parts of each response of the model into one assistant message with texts and calls, and one message
 * with the results of the calls.
 */
class AssistantMessages {
  readonly #messages: LanguageModelV3Message[]
  #content: (LanguageModelV3TextPart | LanguageModelV3ToolCallPart)[] = []
  #results: LanguageModelV3ToolResultPart[] = []
  #step: unknown

  constructor(messages: LanguageModelV3Message[]) {
    this.#messages = messages
  }

  text(text: string): void {
    if (this.#results.length > 0) this.end()
    this.#content.push({ type: 'text', text })
  }

  call(call: ToolCallState, { toolCallId, input: text, result, images }: CallTexts): void {
    const input = inputForModel(findTool(ownName(call) ?? ''), text)
    const { step, offered = call.toolName } = metaOf(call)
    // The tool name may come from another agent, or the model may have invented it. Providers accept only these characters.
    const toolName = offered.replaceAll(/[^\w-]/g, '_').slice(0, 64) || '_'
    if (this.#results.length > 0 && step !== this.#step) this.end()
    this.#step = step
    this.#content.push({ type: 'tool-call', toolCallId, toolName, input })
    const output: LanguageModelV3ToolResultPart['output'] =
      images.length === 0
        ? { type: 'text', value: result }
        : { type: 'content', value: [{ type: 'text', text: result }, ...images] }
    this.#results.push({ type: 'tool-result', toolCallId, toolName, output })
  }

  end(): void {
    if (this.#content.length > 0) this.#messages.push({ role: 'assistant', content: this.#content })
    if (this.#results.length > 0) this.#messages.push({ role: 'tool', content: this.#results })
    this.#content = []
    this.#results = []
  }
}
