/** Cuts a text in the middle to `maxLength` characters, plus a line with the number of characters left out. Beginning and end are kept, because they matter most. */
export function truncateMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const head = Math.ceil((maxLength * 2) / 3)
  const missing = text.length - maxLength
  return wellFormed(
    `${text.slice(0, head)}\n[… ${missing} characters are left out here …]\n${text.slice(head + missing)}`,
  )
}

/** Replaces lone surrogates and NUL, for which some providers refuse the whole request. */
export function wellFormed(text: string): string {
  return text.replaceAll(/[\p{Surrogate}\0]/gu, '\ufffd')
}
