import type { Sample } from './sample.ts'
import type { Town } from './town.ts'

/** One line that changes on a terminal, one every half a minute elsewhere. */
export class Progress {
  readonly #seconds: number
  #shown = 0

  constructor(seconds: number) {
    this.#seconds = seconds
  }

  show(samples: readonly Sample[], { done, problems }: Town): void {
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
      `${done.told} told`,
      `${problems.length} problems`,
    ]
    process.stdout.write(tty ? `\r\u001B[K  ${cells.join('  ')}` : `  ${cells.join('  ')}\n`)
  }
}
