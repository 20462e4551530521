/**
 * Cuts the middle out of a text that is longer than `maxLength` characters, and inserts a line with the number of characters
 * left out. The beginning and the end are kept, because they matter most.
 */
export function truncateMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const head = Math.ceil((maxLength * 2) / 3)
  const missing = text.length - maxLength
  return wellFormed(
    `${text.slice(0, head)}\n[… ${missing} characters are left out here …]\n${text.slice(head + missing)}`,
  )
}

/** Replaces lone surrogates and NUL. Some providers refuse a whole request because of one such character. */
export function wellFormed(text: string): string {
  return text.replaceAll(/[\p{Surrogate}\0]/gu, '\ufffd')
}
