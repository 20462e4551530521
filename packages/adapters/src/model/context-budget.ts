import type { LanguageModelV3Message, LanguageModelV3ToolResultPart } from '@ai-sdk/provider'

/** An estimate that fits English text and code. */
const charactersPerToken = 4
/** An estimate: one image costs about as much as a page of text. */
const tokensPerImage = 1600

/**
 * Returns the maximum number of input tokens of a request. The rest of the context window is for the answer, and a
 * margin.
 */
export function inputBudget(contextWindow: number, maxOutput: number | undefined): number {
  return Math.floor((contextWindow - Math.min(maxOutput ?? contextWindow / 4, contextWindow / 4)) * 0.85)
}

export function charactersFor(tokens: number): number {
  return tokens * charactersPerToken
}

/**
 * Estimates the number of tokens of messages. An exact count is not possible, because each provider has its own tokenizer.
 */
export function estimateTokens(messages: readonly LanguageModelV3Message[]): number {
  return Math.ceil(messages.reduce((sum, message) => sum + lengthOf(message), 0) / charactersPerToken)
}

function lengthOf({ content }: LanguageModelV3Message): number {
  if (typeof content === 'string') return content.length
  return content.reduce((sum, part) => sum + partLength(part), 0)
}

function partLength(part: Exclude<LanguageModelV3Message['content'], string>[number]): number {
  if (part.type === 'file') return lengthPerImage
  if (part.type !== 'tool-result' || part.output.type !== 'content') return JSON.stringify(part).length
  return part.output.value.reduce(
    (sum, each) => sum + (each.type === 'image-data' ? lengthPerImage : JSON.stringify(each).length),
    0,
  )
}

const lengthPerImage = tokensPerImage * charactersPerToken

/**
 * Replaces tool results by a placeholder until the messages fit the budget, beginning with the oldest result. The results of
 * the last step are kept, because the model has not seen them yet. Only the request is changed, not the log.
 */
export function withoutOldResults(
  messages: readonly LanguageModelV3Message[],
  budget: number,
): readonly LanguageModelV3Message[] {
  let excess = estimateTokens(messages) - budget
  if (excess <= 0) return messages
  const last = messages.findLastIndex(({ role }) => role === 'tool')
  return messages.map((message, i) => {
    if (message.role !== 'tool' || i === last || excess <= 0) return message
    const before = lengthOf(message)
    const content = message.content.map((part) =>
      part.type === 'tool-result' && partLength(part) > partLength(omitted(part)) ? omitted(part) : part,
    )
    const shorter = { ...message, content }
    excess -= Math.ceil((before - lengthOf(shorter)) / charactersPerToken)
    return shorter
  })
}

function omitted(part: LanguageModelV3ToolResultPart): LanguageModelV3ToolResultPart {
  return { ...part, output: { type: 'text', value: omittedText } }
}

const omittedText = '[This was left out to make room. Call the tool again if you need it.]'
