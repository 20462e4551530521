import type { Uri } from '@atrium/protocol/channel'
import type { StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import type { Channel } from './channel.ts'
import { Waiters } from './waiters.ts'

/** The progress of a log, and promises that resolve when the progress meets a condition. */
export abstract class LogProgress {
  readonly #waiters = new Waiters()

  /**
   * The last committed sequence number. A strict action, one that must be durable before it is delivered, holds back
   * its own number and all later ones until the store has flushed it.
   */
  abstract get committedSeq(): number

  /** Whether nothing more may be appended for now. */
  abstract get congested(): boolean

  /**
   * The number of characters of the actions that wait for the disk, plus a constant for each action and for each
   * channel. Zero on a full disk, where nothing waits.
   */
  abstract get backlog(): number

  abstract get diskFull(): boolean

  /** Resolves when a sequence number is committed. */
  reached(seq: number): Promise<void> {
    return this.#waiters.until(() => this.committedSeq >= seq)
  }

  /** Resolves when the committed state of a channel satisfies a condition. */
  when<K extends KindName>(channel: Channel<K>, holds: (state: StateOf<K>) => boolean): Promise<void> {
    return this.#waiters.until(() => channel.committed !== undefined && holds(channel.committed))
  }

  /** Whether a channel was removed, and its removal is not committed. A crash would bring the channel back. */
  abstract isDropped(uri: Uri): boolean

  /** Resolves when no removal of a channel waits for its commit. */
  removed(uri: Uri): Promise<void> {
    return this.#waiters.until(() => !this.isDropped(uri))
  }

  /** Resolves when more may be appended. */
  room(): Promise<void> {
    return this.#waiters.until(() => !this.congested)
  }

  /** Resolves when more is committed, or when nothing waits for the disk. */
  progress(): Promise<void> {
    const before = this.committedSeq
    return this.#waiters.until(() => this.committedSeq > before || this.backlog === 0)
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
