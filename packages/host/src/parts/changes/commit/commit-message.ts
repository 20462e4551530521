/**
 * Returns the message of a commit for which nobody has written a message: the title of the session, and the files. It
 * is used for clients that only know the operations of AHP, which have no place for a message.
 */
export function commitMessage(title: string, paths: readonly string[]): string {
  const [first = ''] = title.trim().split(/\s*[\r\n]/)
  const subject = cut(printable(first)) || `Change ${paths.length === 1 ? paths[0] : `${paths.length} files`}`
  if (paths.length === 0) return subject
  const named = paths.slice(0, mostNamed).map((path) => `- ${printable(path)}`)
  const more = paths.length > mostNamed ? [`- and ${paths.length - mostNamed} more`] : []
  return [subject, '', ...named, ...more].join('\n')
}

/** Replaces characters that cannot be printed. Titles come from people and agents, and names of files may contain line ends. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\u{fffd}')
}

function cut(text: string): string {
  // The cut must not leave half of a surrogate pair.
  return text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** The maximum number of characters of the first line, as is usual for commit messages. */
const longest = 72
const mostNamed = 50
