import type { Verdict } from './judge/judge.ts'
import { describe } from './judge/violation.ts'

/** Results of a whole run: the numbers of its final table, and every problem. */
export class Tally {
  /** The folder of the histories. */
  readonly folder: string
  readonly kills = new Map<string, number>()
  readonly failpoints = new Map<string, number>()
  /** The outcomes of faults other than kills and failpoints, each with its number of occurrences. */
  readonly outcomes = new Map<string, number>()
  readonly skipped: string[] = []
  readonly problems: string[] = []
  /** Tables of single scenes, which are printed after the final table. */
  readonly notes: string[] = []
  runs = 0
  histories = 0
  envelopes = 0
  losses = 0

  constructor(folder: string) {
    this.folder = folder
  }

  killed(how: string): void {
    count(this.kills, how)
  }

  hit(failpoint: string): void {
    count(this.failpoints, failpoint)
  }

  outcome(what: string, times = 1): void {
    count(this.outcomes, what, times)
  }

  skip(what: string, why: string): void {
    this.skipped.push(`${what}: ${why}`)
    progress(`skipped ${what}: ${why}`)
  }

  note(table: string): void {
    this.notes.push(table)
  }

  problem(sentence: string): void {
    this.problems.push(sentence)
    progress(`PROBLEM ${sentence.split('\n', 1)[0]}`)
  }

  judged(folder: string, { violations, histories, envelopes }: Verdict): void {
    this.runs++
    this.histories += histories
    this.envelopes += envelopes
    this.losses += violations.filter(({ rule }) => rule === 'I1').length
    for (const violation of violations.slice(0, 20)) this.problem(`${describe(violation)}\n    in ${folder}`)
    if (violations.length > 20) this.problem(`and ${violations.length - 20} more in ${folder}`)
  }

  table(): string {
    const sum = (of: Map<string, number>) => [...of.values()].reduce((total, n) => total + n, 0)
    const rows: readonly (readonly [string, string | number])[] = [
      ['kills', sum(this.kills)],
      ...indented(this.kills),
      ['failpoints hit', `${this.failpoints.size} (${sum(this.failpoints)} times)`],
      ...indented(this.failpoints),
      ['other faults', sum(this.outcomes)],
      ...indented(this.outcomes),
      ['runs judged', this.runs],
      ['histories checked', this.histories],
      ['envelopes checked', this.envelopes],
      ['losses', this.losses],
      ['violations', this.problems.length],
      ['skipped', this.skipped.length],
      ...this.skipped.map((sentence) => ['  ', sentence] as const),
    ]
    const table = rows.map(([name, value]) => `${name.padEnd(width)} ${value}`).join('\n')
    return [table, ...this.notes].join('\n\n')
  }
}

export function progress(sentence: string): void {
  const seconds = (performance.now() / 1000).toFixed(1)
  process.stderr.write(`chaos ${seconds.padStart(6)} s  ${sentence}\n`)
}

const width = 56

function indented(of: Map<string, number>): readonly (readonly [string, number])[] {
  return [...of].map(([name, times]) => [`  ${name}`, times] as const)
}

function count(into: Map<string, number>, key: string, times = 1): void {
  into.set(key, (into.get(key) ?? 0) + times)
}
