import type { Sample } from './sample.ts'
import type { SoakRun } from './soak-run.ts'

/** Shows the progress of a run. On a terminal it overwrites one line; elsewhere it prints a new line every 30 seconds. */
export class Progress {
  readonly #seconds: number
  #shown = 0

  constructor(seconds: number) {
    this.#seconds = seconds
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
