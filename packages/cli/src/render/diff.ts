import { sanitize } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

/** A change of a file. `before` is absent for a new file, `after` for a deleted one. */
export interface Change {
  readonly path: string
  readonly before?: string
  readonly after?: string
}

/** Returns a change as a diff with two lines of context. */
export function diffLines({ path, before, after }: Change, style: Style): readonly string[] {
  const verb = before === undefined ? 'new file' : after === undefined ? 'deleted' : 'changed'
  const head = `  ${style.dim('───')} ${sanitize(path)} ${style.dim(`(${verb})`)}`
  const [old, now] = [linesOf(before), linesOf(after)]
  const rows = grouped(steps(old, now)).map(([sign, line]) => {
    const text = `  ${sign} ${sanitize(line)}`.trimEnd()
    return sign === '+' ? style.green(text) : sign === '-' ? style.red(text) : style.dim(text)
  })
  return [head, ...rows]
}

type Step = readonly [sign: '+' | '-' | ' ' | '…', line: string]

/**
 * Compares two lists of lines. Lines of the common prefix and the common suffix stay. The lines between them are
 * compared by longest common subsequence; if there are too many, all old ones are removed and all new ones added.
 */
function steps(old: readonly string[], now: readonly string[]): readonly Step[] {
  let start = 0
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++
  let end = 0
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end++
  return [
    ...old.slice(0, start).map((line): Step => [' ', line]),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map((line): Step => [' ', line]),
  ]
}

function middle(old: readonly string[], now: readonly string[]): readonly Step[] {
  if (old.length * now.length > 1_000_000)
    return [...old.map((line): Step => ['-', line]), ...now.map((line): Step => ['+', line])]
  // `both[i][j]` is the length of the longest common subsequence of `old` from line i on and `now` from line j on.
  const both = old.map(() => new Uint32Array(now.length + 1)).concat(new Uint32Array(now.length + 1))
  const at = (i: number, j: number) => both[i]?.[j] ?? 0
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--) {
      const row = both[i]
      if (row) row[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  const found: Step[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      found.push([' ', old[i] ?? ''])
      i++
      j++
    } else if (j >= now.length || (i < old.length && at(i + 1, j) >= at(i, j + 1)))
      found.push(['-', old[i++] ?? ''])
    else found.push(['+', now[j++] ?? ''])
  }
  return found
}

/** Keeps two lines of context around each change; an ellipsis replaces the rest. */
function grouped(all: readonly Step[]): readonly Step[] {
  const near = all.map((_, at) => all.slice(Math.max(0, at - 2), at + 3).some(([sign]) => sign !== ' '))
  return all.flatMap((step, at): readonly Step[] => {
    if (near[at]) return [step]
    return at === 0 || near[at - 1] ? [['…', '']] : []
  })
}

function linesOf(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
