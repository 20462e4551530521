import type { Sample } from './sample.ts'
import type { SoakRun } from './soak-run.ts'

/** Shows the progress of a run. On a terminal it overwrites one line; elsewhere it prints a new line every 30 seconds. */
export class Progress {
  readonly #seconds: number
  #shown = 0
  #problems = 0

  constructor(seconds: number) {
    this.#seconds = seconds
  }

  /** Prints a problem when it is found, because a run that is ended early prints no report. */
  problem(problem: string): void {
    if (++this.#problems > shownProblems) return
    process.stdout.write(`${process.stdout.isTTY ? '\r\u001B[K' : ''}  problem: ${problem}\n`)
  }

  show(samples: readonly Sample[], { counts, problems }: SoakRun): void {
    const now = samples.at(-1)
    if (!now) return
    const tty = process.stdout.isTTY
    if (!tty && now.at - this.#shown < 30) return
    this.#shown = now.at
    const cells = [
      `${now.at.toFixed(0)} of ${this.#seconds} s`,
      `heap ${(now.heap / 1e6).toFixed(1)} MB`,
      `RSS ${(now.rss / 1e6).toFixed(0)} MB`,
      `fds ${now.fds ?? '?'}`,
      `handles ${now.handles}`,
      `channels ${now.channels ?? '?'}`,
      `${counts.delivered} delivered`,
      `${problems.length} problems`,
    ]
    process.stdout.write(tty ? `\r\u001B[K  ${cells.join('  ')}` : `  ${cells.join('  ')}\n`)
  }
}

/** The number of problems that are printed when they are found. */
const shownProblems = 20
