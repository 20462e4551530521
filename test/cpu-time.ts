import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { afterAll } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** The CPU time of the file in milliseconds: of its worker since the file before, and of all programs below. */
    cpu?: number
  }
}

/**
 * What this worker and the programs below it have spent. The time of a program that ended goes to its parent, unless the parent
 * ended before. So this looks every two seconds, and adds what has come since. The worker keeps it, because it loads this module
 * again for each file.
 */
class Spent {
  total = 0
  /** The total at the end of the file before. */
  before = 0
  #last = 0

  look(): void {
    const now = ticksBelow(process.pid) * 10
    this.total += Math.max(0, now - this.#last)
    this.#last = now
  }
}

// The cast is that of a value which only this module sets.
const kept = globalThis as { atriumSpent?: Spent }
if (process.env['ATRIUM_TIMES'] !== undefined && existsSync('/proc/self/stat')) {
  if (!kept.atriumSpent) setInterval(() => kept.atriumSpent?.look(), 2000).unref()
  const spent = (kept.atriumSpent ??= new Spent())
  // Hooks of this kind run in reverse order, so this one runs after all of the file.
  // oxlint-disable-next-line no-empty-pattern -- Vitest reads the pattern, and refuses every other first parameter.
  afterAll(({}, file) => {
    spent.look()
    file.meta.cpu = spent.total - spent.before
    spent.before = spent.total
  })
}

/** The CPU time of this process, of those that it has waited for, and of those below it, in hundredths of a second. */
function ticksBelow(root: number): number {
  const rows = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [rowOf(name)] : []))
  const below = new Set([root])
  for (let before = 0; before < below.size;) {
    before = below.size
    for (const { pid, parent } of rows) if (below.has(parent)) below.add(pid)
  }
  return sum(rows.filter(({ pid }) => below.has(pid)).map(({ ticks }) => ticks))
}

/** A process, its parent, and what it and those that it has waited for have spent. Zeros if it has ended. */
function rowOf(name: string) {
  try {
    // The name of the program, in parentheses, may have spaces.
    const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number)
    return { pid: Number(name), parent: fields[1] ?? 0, ticks: sum(fields.slice(11, 15)) }
  } catch {
    return { pid: 0, parent: 0, ticks: 0 }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
