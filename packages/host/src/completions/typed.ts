/** What begins a word that can be completed: files, chats, commands. */
export const triggers = ['@', '#', '/'] as const
export type Trigger = (typeof triggers)[number]

/** The word that is being typed. */
export interface Typed {
  readonly trigger: Trigger
  /** What stands behind the trigger, up to the cursor. */
  readonly word: string
  /** Where the trigger is, in UTF-16 units. */
  readonly start: number
}

/**
 * The word that ends at an offset, if it begins with a trigger. It is looked for so many characters back, and one that is
 * longer is no name of anything. A command is the first word of a message.
 */
export function typedAt(text: string, offset: number, most: number): Typed | undefined {
  // The trigger itself, and what may stand before it.
  const least = Math.max(0, offset - most - 2)
  let first = offset
  while (first > least && !isSpace(text.charAt(first - 1))) first--
  if (first > 0 && !isSpace(text.charAt(first - 1))) return undefined
  const start = openers.has(text.charAt(first)) ? first + 1 : first
  const trigger = triggers.find((each) => each === text.charAt(start))
  if (!trigger || start >= offset || offset - start - 1 > most) return undefined
  if (trigger === '/' && text.slice(0, start).trim() !== '') return undefined
  return { trigger, word: text.slice(start + 1, offset), start }
}

/** People put names in brackets and quotes. */
const openers = new Set(['(', '[', '{', '<', '"', "'", '`'])

function isSpace(character: string): boolean {
  return character.trim() === ''
}
