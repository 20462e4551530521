/** Whether a word is a name, or may be meant as one: it differs in at most two letters, and in less than 60 percent of them. */
export function isLike(word: string, name: string): boolean {
  const changes = distance(word.toLowerCase(), name)
  return changes <= 2 && changes / Math.max(word.length, name.length) < 0.6
}

/**
 * Whether a word is probably a mistyped name: one letter differs or two are swapped, in a long word up to two times. Two letters
 * may also be missing or too many, as in `list` for `ls`.
 */
export function isTypo(word: string, name: string): boolean {
  const typed = word.toLowerCase()
  if (distance(typed, name) <= (Math.min(typed.length, name.length) > 5 ? 2 : 1)) return true
  return isLike(typed, name) && (within(typed, name) || within(name, typed))
}

/** Whether all letters of the first word are in the second one, in the same order. */
function within(short: string, long: string): boolean {
  let at = 0
  for (const letter of long) if (letter === short[at]) at++
  return at === short.length
}

/** The least number of letters to add, remove, replace or swap with their neighbour, so that `a` becomes `b`. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Infinity
  for (let i = 1; i <= a.length; i++) {
    rows.push([i])
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (same ? 0 : 1))
      rows[i]?.push(swapped ? Math.min(least, at(i - 2, j - 2) + 1) : least)
    }
  }
  return at(a.length, b.length)
}

/** The commands, by the words that other programs have for them. */
export const wordsOfOthers = new Map(
  Object.entries({
    ls: ['list', 'sessions', 'ps'],
    doctor: ['status', 'check', 'info'],
    serve: ['start', 'up', 'daemon'],
    attach: ['resume', 'continue', 'open', 'join'],
    web: ['ui', 'dashboard', 'browser'],
    run: ['exec', 'ask', 'chat', 'new'],
    logs: ['show', 'view', 'transcript'],
    rm: ['delete', 'remove'],
    cancel: ['abort', 'interrupt', 'kill'],
    undo: ['revert', 'rollback'],
    deny: ['reject'],
    approve: ['allow', 'accept'],
    login: ['auth', 'signin', 'sign-in'],
  }).flatMap(([name, words]) => words.map((word) => [word, name] as const)),
)
