const maxLength = 80

/** Makes a title from the text of a message: its first line that is not blank, cut to 80 characters. */
export function titleOf(text: string): string {
  const line =
    text
      .slice(0, 10_000)
      .split(/[\r\n\u2028\u2029]/)
      .find((each) => each.trim() !== '') ?? ''
  const title = line.trim().replaceAll(/\s+/g, ' ')
  if (title.length <= maxLength) return title
  const cut = title.slice(0, maxLength - 1)
  // Cuts between words, unless that would lose more than half of the line.
  const space = cut.lastIndexOf(' ')
  return `${(space > maxLength / 2 ? cut.slice(0, space) : withoutHalfPair(cut)).trimEnd()}…`
}

/** Removes half of a surrogate pair at the end. */
function withoutHalfPair(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text
}
