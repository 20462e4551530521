import type { StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import type { Channel } from './channel.ts'
import { Waiters } from './waiters.ts'

/** The progress of a log, and promises that resolve when the progress meets a condition. */
export abstract class LogProgress {
  readonly #waiters = new Waiters()

  /** The last committed sequence number: the one before the first strict action that is not durable. */
  abstract get committedSeq(): number

  /** Whether nothing more may be appended for now. */
  abstract get congested(): boolean

  /** Whether so much waits for the disk that a sender must wait whose own actions are among it. */
  abstract get backlogged(): boolean

  abstract get diskFull(): boolean

  /** Resolves when a sequence number is committed. */
  reached(seq: number): Promise<void> {
    return this.#waiters.until(() => this.committedSeq >= seq)
  }

  /** Resolves when the committed state of a channel satisfies a condition. */
  when<K extends KindName>(channel: Channel<K>, holds: (state: StateOf<K>) => boolean): Promise<void> {
    return this.#waiters.until(() => channel.committed !== undefined && holds(channel.committed))
  }

  /**
   * Whether a sender may append now. `last` is the number of the sender's last action. If much waits for the disk, a sender
   * whose own actions are among it must wait, and the others need not.
   */
  hasRoom(last: number): boolean {
    return !this.congested && !(this.backlogged && last > this.committedSeq)
  }

  /** Resolves when a sender may append. */
  room(last = 0): Promise<void> {
    return this.#waiters.until(() => this.hasRoom(last))
  }

  /** Resolves when the log is not congested and the disk has space. */
  space(): Promise<void> {
    return this.#waiters.until(() => !this.congested && !this.diskFull)
  }

  /** Tests the conditions of all waiting promises. Called after every change of the progress. */
  protected progressed(): void {
    this.#waiters.check()
  }
}
