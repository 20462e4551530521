const longest = 80

/** A name for what begins with these words: the first line that has any, not too long. */
export function titleOf(text: string): string {
  const line =
    text
      .slice(0, 10_000)
      .split(/[\r\n\u2028\u2029]/)
      .find((each) => each.trim() !== '') ?? ''
  const words = line.trim().replaceAll(/\s+/g, ' ')
  if (words.length <= longest) return words
  const cut = words.slice(0, longest - 1)
  // Not in the middle of a word, where that leaves enough of the line.
  const space = cut.lastIndexOf(' ')
  return `${(space > longest / 2 ? cut.slice(0, space) : whole(cut)).trimEnd()}…`
}

/** Without the first half of a character that was cut in two. */
function whole(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text
}
