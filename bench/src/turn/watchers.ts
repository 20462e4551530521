import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Version } from '@atrium/protocol/versions/negotiate'

/** A turn to watch. */
export interface WatchedTurn {
  readonly port: number
  readonly session: string
  /** The number of watchers. */
  readonly count: number
  /**
   * The versions of AHP that the watchers speak: the first watcher the first version, and so on, from the start again
   * after the last. The first watcher starts the turn.
   */
  readonly versions: readonly Version[]
  /** The `maxLatencyMs` of the subscriptions. Absent: the default of the host. */
  readonly latency?: number
  /** The number of words of the answer. */
  readonly words: number
  /** The number of characters of the answer. */
  readonly length: number
}

/** The result of a turn. Times are in milliseconds from the dispatch of the turn. */
export interface WatchResult {
  /** Time to the last word at the slowest watcher. */
  readonly took: number
}

/** The watchers, in their own process. */
export class Watchers {
  readonly #child = fork(fileURLToPath(new URL('./watch-child.js', import.meta.url)))

  async watch(turn: WatchedTurn): Promise<WatchResult> {
    this.#child.send(turn)
    const [result] = (await once(this.#child, 'message')) as [WatchResult]
    return result
  }

  end(): void {
    this.#child.kill()
  }
}
