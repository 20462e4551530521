import { limits } from '@atrium/protocol/limits'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { Entry } from '../kernel/log/entry.ts'
import { isMergeable, mergeRuns } from './merge-runs.ts'
import type { World } from '../ports/world.ts'

/** The outgoing messages of one connection: in order, bounded, and merged while they wait. */
export class Outbox {
  readonly #transport: Transport
  readonly #world: World
  #held: Entry[] = []
  /** Notifications without a sequence number, held back until the pending response is sent. */
  #notifications: string[] = []
  #heldBytes = 0
  /**
   * The bytes in the socket's buffer that do not count as backlog: responses, and messages that were sent while the client
   * kept up.
   */
  #exempt = 0
  /** The number of pending responses. While there is one, entries and notifications are held back. */
  #pauses = 0
  #draining = false
  #closing = false
  #latency: number | undefined = 0
  #flushScheduled = false
  #cancelTimer: (() => void) | undefined
  readonly #frames: (entry: Entry) => readonly Uint8Array[]

  /** `frames` makes the frames of an entry. There are none if the client's version cannot express the entry. */
  constructor(
    transport: Transport,
    world: World,
    frames: (entry: Entry) => readonly Uint8Array[] = ({ frame }) => [frame],
  ) {
    this.#transport = transport
    this.#world = world
    this.#frames = frames
  }

  /**
   * The maximum time in milliseconds that text waits to be merged with later text. Undefined: text waits until the
   * synchronous code that delivers it has ended.
   */
  set latency(ms: number | undefined) {
    this.#latency = ms
  }

  get latency(): number | undefined {
    return this.#latency
  }

  deliver(entry: Entry): void {
    if (this.#closing || this.#transport.closed.aborted) return
    const slow = this.#slow
    if (this.#pauses === 0 && !slow && !this.#mayWait(entry)) {
      const frames = this.#frames(entry)
      if (frames.length > 0) this.flush()
      for (const frame of frames) this.#sendExempt(frame)
      return
    }
    // An entry that the client's version cannot express has no frames, and is dropped. Mergeable text is not checked:
    // every version can express it, and its frames are made only after the merge.
    if (!isMergeable(entry) && this.#frames(entry).length === 0) return
    this.#held.push(entry)
    this.#heldBytes += entry.text.length
    if (this.#backlog > this.#maxBacklog) this.#heldBytes = this.#merge()
    if (this.#backlog > this.#maxBacklog) this.#closeSlow()
    else if (this.#pauses === 0) this.#scheduleFlush(slow)
  }

  /**
   * Holds entries back until a response is sent. Entries that were delivered before the call are sent now, even to a slow
   * client.
   */
  pause(): void {
    this.flush()
    this.#pauses++
  }

  resume(): void {
    this.#pauses--
    this.flush(true)
  }

  /** Drops held entries that the pending response makes unnecessary. */
  discard(unnecessary: (entry: Entry) => boolean): void {
    this.#held = this.#held.filter((entry) => !unnecessary(entry))
    this.#heldBytes = this.#heldLength()
  }

  /** Drops everything that is held back, for example when the handshake has failed and no response will follow. */
  clear(): void {
    this.#held = []
    this.#notifications = []
    this.#heldBytes = 0
  }

  /** Sends a response. Entries that were delivered before are sent first, unless they are held back for this response. */
  send(frame: string | Uint8Array): void {
    this.flush()
    // A client has requested its responses, and they may be large, so their bound is higher than that of entries. A client that
    // has read everything gets any response.
    const unread = this.#heldBytes + this.#transport.buffered
    if (unread > 0 && unread + frame.length > limits.answerBytes) this.#closeSlow()
    if (!this.#closing) this.#sendExempt(frame)
  }

  /** Sends a notification without a sequence number. Like an entry, the notification counts as backlog. */
  notify(frame: string): void {
    if (this.#closing) return
    // The length of this notification does not count here: the entries that caused it have already passed the check.
    if (this.#backlog > this.#maxBacklog) return this.#closeSlow()
    if (this.#pauses > 0) {
      this.#notifications.push(frame)
      this.#heldBytes += frame.length
    } else if (this.#slow) {
      this.flush()
      this.#transport.send(frame)
    } else this.send(frame)
  }

  /**
   * Sends everything that is held back. With `exempt`, the frames do not count as backlog, because it was the host
   * that held them back, and not the client that was slow.
   */
  flush(exempt = false): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (this.#pauses > 0 || this.#held.length + this.#notifications.length === 0) return
    this.#merge()
    const frames = [...this.#held.flatMap((entry) => this.#frames(entry)), ...this.#notifications]
    this.clear()
    for (const frame of frames)
      if (exempt) this.#sendExempt(frame)
      else this.#transport.send(frame)
  }

  /** Whether so many bytes are unread that new entries must wait. */
  get slow(): boolean {
    return this.#slow || this.#heldBytes > limits.slowBytes
  }

  get #slow(): boolean {
    return this.#transport.buffered > limits.slowBytes
  }

  get #backlog(): number {
    return this.#heldBytes + Math.max(0, this.#transport.buffered - this.#exempt)
  }

  /** The maximum backlog. It is higher during a pause, because a client cannot read the entries that the host holds back. */
  get #maxBacklog(): number {
    return this.#pauses > 0 ? limits.answerBytes : limits.unreadBytes
  }

  #sendExempt(frame: string | Uint8Array): void {
    this.#exempt = (this.#slow ? this.#exempt : 0) + frame.length
    this.#transport.send(frame)
  }

  /** Closes the connection of a client that does not read, so that the host's memory stays bounded. */
  #closeSlow(): void {
    if (this.#closing) return
    this.#closing = true
    this.#held = []
    this.#notifications = []
    this.#transport.close(1013, 'this client reads too slowly; reconnect')
  }

  #scheduleFlush(slow: boolean): void {
    if (slow) {
      if (this.#draining) return
      this.#draining = true
      void this.#transport.drained().then(() => {
        this.#draining = false
        this.flush()
      })
    } else if (this.#latency === undefined) this.#flushAfterStep()
    else this.#cancelTimer ??= this.#world.later(this.#latency, () => this.flush())
  }

  /**
   * Flushes when the synchronous code that runs now has ended. So no entry is delayed, and the entries that this code
   * delivers are sent together.
   */
  #flushAfterStep(): void {
    if (this.#flushScheduled) return
    this.#flushScheduled = true
    this.#world.soon(() => {
      this.#flushScheduled = false
      // Other messages may have filled the socket's buffer in the meantime. Then the held entries wait until the
      // client has read.
      if (this.#slow) this.#scheduleFlush(true)
      else this.flush(true)
    })
  }

  /** Whether an entry may wait for later text. A long entry may not. */
  #mayWait(entry: Entry): boolean {
    const { length } = entry.text
    if (this.#latency === undefined) return isMergeable(entry) && this.#heldBytes + length <= limits.slowBytes
    return this.#latency > 0 && length <= limits.slowBytes
  }

  /** Merges adjacent text of the same response part or terminal. Returns the total length after the merge. */
  #merge(): number {
    this.#held = mergeRuns(this.#held)
    return this.#heldLength()
  }

  #heldLength(): number {
    const texts = [...this.#held.map(({ text }) => text), ...this.#notifications]
    return texts.reduce((sum, text) => sum + text.length, 0)
  }
}
