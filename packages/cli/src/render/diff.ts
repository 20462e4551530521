import { lineChanges } from '@atrium/protocol/text/line-diff'
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

/** The lines of both texts in order: what stays, what is removed and what is added. */
function steps(old: readonly string[], now: readonly string[]): readonly Step[] {
  const found: Step[] = []
  const add = (sign: Step[0], lines: readonly string[]) =>
    found.push(...lines.map((line): Step => [sign, line]))
  let at = 0
  for (const { before, after } of lineChanges(old, now)) {
    add(' ', old.slice(at, before.from))
    at = before.from + before.count
    add('-', old.slice(before.from, at))
    add('+', now.slice(after.from, after.from + after.count))
  }
  add(' ', old.slice(at))
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
