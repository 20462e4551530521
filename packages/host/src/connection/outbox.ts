import { limits } from '@atrium/protocol/limits'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { Entry } from '../log/entry.ts'
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
  /** The bytes in the socket's buffer that do not count as backlog: responses, and messages to a client that kept up. */
  #exempt = 0
  /** The number of responses under way. Nothing is sent before them. */
  #pauses = 0
  #draining = false
  #closing = false
  #latency: number | undefined = 0
  #flushScheduled = false
  #cancelTimer: (() => void) | undefined
  readonly #frames: (entry: Entry) => readonly Uint8Array[]

  /** `frames`: makes the frames of an entry; none where the client's version cannot express it. */
  constructor(
    transport: Transport,
    world: World,
    frames: (entry: Entry) => readonly Uint8Array[] = ({ frame }) => [frame],
  ) {
    this.#transport = transport
    this.#world = world
    this.#frames = frames
  }

  /** The time that text may wait for more of it, in milliseconds. Undefined: until the end of the step. */
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
    // Mergeable text gets its frames after the merge. Every version can express it.
    if (!isMergeable(entry) && this.#frames(entry).length === 0) return
    this.#held.push(entry)
    this.#heldBytes += entry.text.length
    if (this.#backlog > this.#maxBacklog) this.#heldBytes = this.#merge()
    if (this.#backlog > this.#maxBacklog) this.#closeSlow()
    else if (this.#pauses === 0) this.#scheduleFlush(slow)
  }

  /** Holds further entries back until a response is sent. Entries delivered before are sent first, even to a slow client. */
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

  /** Drops everything held: the handshake that it waited for has failed. */
  clear(): void {
    this.#held = []
    this.#notifications = []
    this.#heldBytes = 0
  }

  /** Sends a response. Entries delivered before go first, unless they are held back for this very response. */
  send(frame: string | Uint8Array): void {
    this.flush()
    // Responses were requested and may be large, so their bound is higher.
    const unread = this.#heldBytes + this.#transport.buffered + frame.length
    if (unread > limits.answerBytes) this.#closeSlow()
    if (!this.#closing) this.#sendExempt(frame)
  }

  /** Sends a notification without a sequence number. It counts as backlog like an entry. */
  notify(frame: string): void {
    if (this.#closing) return
    // Its own length is not added: the entries that led to it were within the bound.
    if (this.#backlog > this.#maxBacklog) return this.#closeSlow()
    if (this.#pauses > 0) {
      this.#notifications.push(frame)
      this.#heldBytes += frame.length
    } else if (this.#slow) {
      this.flush()
      this.#transport.send(frame)
    } else this.send(frame)
  }

  /** Sends everything held. `exempt`: it waited for the host and not for its reader, so it is no backlog. */
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

  /** Whether so much is unread that new entries wait. */
  get slow(): boolean {
    return this.#slow || this.#heldBytes > limits.slowBytes
  }

  get #slow(): boolean {
    return this.#transport.buffered > limits.slowBytes
  }

  get #backlog(): number {
    return this.#heldBytes + Math.max(0, this.#transport.buffered - this.#exempt)
  }

  /** The bound is higher during a pause: the client cannot read entries that the host holds back. */
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

  /** Flushes at the end of the step: no entry is delayed, and the entries of one step go together. */
  #flushAfterStep(): void {
    if (this.#flushScheduled) return
    this.#flushScheduled = true
    this.#world.soon(() => {
      this.#flushScheduled = false
      // Messages sent meanwhile may have filled the socket's buffer: then the rest waits for the client to read.
      if (this.#slow) this.#scheduleFlush(true)
      else this.flush(true)
    })
  }

  /** Whether an entry may wait for more text. A long one may not. */
  #mayWait(entry: Entry): boolean {
    const { length } = entry.text
    if (this.#latency === undefined) return isMergeable(entry) && this.#heldBytes + length <= limits.slowBytes
    return this.#latency > 0 && length <= limits.slowBytes
  }

  /** Merges adjacent text of the same part. Returns the length that is left. */
  #merge(): number {
    this.#held = mergeRuns(this.#held)
    return this.#heldLength()
  }

  #heldLength(): number {
    const texts = [...this.#held.map(({ text }) => text), ...this.#notifications]
    return texts.reduce((sum, text) => sum + text.length, 0)
  }
}
