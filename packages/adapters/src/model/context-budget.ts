import type { LanguageModelV3Message } from '@ai-sdk/provider'

/** A token is about four characters; an image is as much as a page. */
const perToken = 4
const perImage = 1600

/** How much of a model's window may be filled before something has to go: its answer must fit, too. */
export function roomOf(window: number, output: number | undefined): number {
  return Math.floor((window - Math.min(output ?? window / 4, window / 4)) * 0.85)
}

export function charactersIn(room: number): number {
  return room * perToken
}

/** An estimate: vendors count in ways of their own. */
export function tokensIn(messages: readonly LanguageModelV3Message[]): number {
  return Math.ceil(messages.reduce((sum, message) => sum + lengthOf(message), 0) / perToken)
}

function lengthOf({ content }: LanguageModelV3Message): number {
  if (typeof content === 'string') return content.length
  return content.reduce(
    (sum, part) => sum + (part.type === 'file' ? perImage * perToken : JSON.stringify(part).length),
    0,
  )
}

/**
 * The same, with less of what tools returned where it is too much: the oldest first, and never that of the last step, which the model has
 * not seen yet. What is in the log stays there.
 */
export function fitted(
  messages: readonly LanguageModelV3Message[],
  room: number,
): readonly LanguageModelV3Message[] {
  let excess = tokensIn(messages) - room
  if (excess <= 0) return messages
  const last = messages.findLastIndex(({ role }) => role === 'tool')
  return messages.map((message, i) => {
    if (message.role !== 'tool' || i === last || excess <= 0) return message
    const before = lengthOf(message)
    const content = message.content.map((part) =>
      part.type === 'tool-result' && part.output.type === 'text' && part.output.value.length > omitted.length
        ? { ...part, output: { type: 'text' as const, value: omitted } }
        : part,
    )
    const less = { ...message, content }
    excess -= Math.ceil((before - lengthOf(less)) / perToken)
    return less
  })
}

const omitted = '[This was left out to make room. Call the tool again if you need it.]'
