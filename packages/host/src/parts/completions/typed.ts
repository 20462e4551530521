/** The characters that begin a completable word: `@` a file; `#` a chat, a file or a folder; `/` a command. */
export const triggers = ['@', '#', '/'] as const
export type Trigger = (typeof triggers)[number]

/** The word before the cursor. */
export interface Typed {
  readonly trigger: Trigger
  /** The text between the trigger and the cursor. */
  readonly word: string
  /** The offset of the trigger, in UTF-16 units. */
  readonly start: number
}

/**
 * Returns the word that ends at an offset, if it begins with a trigger and has at most `max` characters. A command must be
 * the first word of the message.
 */
export function typedAt(text: string, offset: number, max: number): Typed | undefined {
  // Besides the word there may be two more characters: the trigger, and an opening bracket or quote before the trigger.
  const least = Math.max(0, offset - max - 2)
  let first = offset
  while (first > least && !isSpace(text.charAt(first - 1))) first--
  if (first > 0 && !isSpace(text.charAt(first - 1))) return undefined
  const start = openers.has(text.charAt(first)) ? first + 1 : first
  const trigger = triggers.find((each) => each === text.charAt(start))
  if (!trigger || start >= offset || offset - start - 1 > max) return undefined
  if (trigger === '/' && text.slice(0, start).trim() !== '') return undefined
  return { trigger, word: text.slice(start + 1, offset), start }
}

/** Opening brackets and quotes. A trigger may follow them directly. */
const openers = new Set(['(', '[', '{', '<', '"', "'", '`'])

function isSpace(character: string): boolean {
  return character.trim() === ''
}
