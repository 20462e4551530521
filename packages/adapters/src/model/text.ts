/** A text of at most so many characters: its beginning and its end, which say the most, and how much is missing. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text
  const head = Math.ceil((most * 2) / 3)
  const missing = text.length - most
  return sayable(
    `${text.slice(0, head)}\n[… ${missing} characters are left out here …]\n${text.slice(head + missing)}`,
  )
}

/** What every vendor takes: some refuse a whole request for half a character, or for a NUL. */
export function sayable(text: string): string {
  return text.replaceAll(/[\p{Surrogate}\0]/gu, '\ufffd')
}
