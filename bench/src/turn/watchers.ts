import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A turn that is to be watched. */
export interface Show {
  readonly port: number
  readonly session: string
  /** So many watch, and so many of these speak 0.9. */
  readonly count: number
  readonly older: number
  /** What they ask for as the longest that text may wait; nothing where they do not say. */
  readonly latency?: number
  /** So many words are asked for, which have so many characters. */
  readonly words: number
  readonly length: number
}

/** Milliseconds from the moment that the turn was asked for. */
export interface Shown {
  /** To the first word, at the one who asked. */
  readonly first: number
  /** To the last word, at the slowest. */
  readonly took: number
  /** So many messages came to each. */
  readonly frames: number
}

/** The process in which they watch. */
export class Watchers {
  readonly #child = fork(fileURLToPath(new URL('./watch-child.js', import.meta.url)))

  async watch(show: Show): Promise<Shown> {
    this.#child.send(show)
    const [shown] = (await once(this.#child, 'message')) as [Shown]
    return shown
  }

  end(): void {
    this.#child.kill()
  }
}
