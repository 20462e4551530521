import type { LanguageModelV3Message } from '@ai-sdk/provider'

/** Estimate for English text and code. */
const charactersPerToken = 4
/** Estimate for one image, about a page of text. */
const tokensPerImage = 1600

/** Returns the number of input tokens to send at most. The rest of the context window is reserved for the answer. */
export function inputBudget(contextWindow: number, maxOutput: number | undefined): number {
  return Math.floor((contextWindow - Math.min(maxOutput ?? contextWindow / 4, contextWindow / 4)) * 0.85)
}

export function charactersFor(tokens: number): number {
  return tokens * charactersPerToken
}

/** Estimates the tokens of messages. Each provider has its own tokenizer, so no exact count is possible. */
export function estimateTokens(messages: readonly LanguageModelV3Message[]): number {
  return Math.ceil(messages.reduce((sum, message) => sum + lengthOf(message), 0) / charactersPerToken)
}

function lengthOf({ content }: LanguageModelV3Message): number {
  if (typeof content === 'string') return content.length
  return content.reduce(
    (sum, part) =>
      sum + (part.type === 'file' ? tokensPerImage * charactersPerToken : JSON.stringify(part).length),
    0,
  )
}

/**
 * Replaces tool results by a placeholder, oldest first, until the messages fit the budget. The results of the last step stay, because the
 * model has not seen them yet. The log is not changed.
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
      part.type === 'tool-result' &&
      part.output.type === 'text' &&
      part.output.value.length > omittedText.length
        ? { ...part, output: { type: 'text' as const, value: omittedText } }
        : part,
    )
    const shorter = { ...message, content }
    excess -= Math.ceil((before - lengthOf(shorter)) / charactersPerToken)
    return shorter
  })
}

const omittedText = '[This was left out to make room. Call the tool again if you need it.]'
