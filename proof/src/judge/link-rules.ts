import type { Action, Envelope, Uri } from '@atrium/protocol/channel'

/** What the rules of a link need to know, and whom they tell of a violation. */
interface Facts {
  readonly clientId: string
  /** The first number of a channel, above `after` and below `before`, whose envelope every subscriber gets. */
  missed(channel: Uri, after: number, before: number): number | undefined
  fail(rule: 'I2' | 'I8' | 'I9', problem: string, envelope?: Envelope): void
}

/**
 * The rules of one link: its numbers rise and its channels have no gaps (I2), no snapshot is older than what came before (I8), and it
 * gets nothing that is meant for others (I9). The simulations ask at every message, the judge of chaos and soak reads histories.
 */
export class LinkRules {
  /** Each subscribed channel, and the number up to which everything was delivered. */
  readonly #upTo = new Map<Uri, number>()
  readonly #left = new Set<Uri>()
  readonly #facts: Facts
  #last: number

  /** `last`: the highest number that the client knew before. */
  constructor(facts: Facts, last = 0) {
    this.#facts = facts
    this.#last = last
  }

  /** The highest number of the link. */
  get last(): number {
    return this.#last
  }

  /** Whether the host may send something of a channel: it is subscribed, or was until now. */
  expects(channel: Uri): boolean {
    return this.#upTo.has(channel) || this.#left.has(channel)
  }

  /** The channel is shown in its state at a number. */
  shown(channel: Uri, at: number): void {
    if (at < this.#last) this.#facts.fail('I8', `${channel} was shown at ${at}, after ${this.#last}`)
    this.#last = Math.max(this.#last, at)
    this.resumed(channel, at)
  }

  /** The link gets the channel from this number on. */
  resumed(channel: Uri, from: number): void {
    this.#upTo.set(channel, from)
    this.#left.delete(channel)
  }

  /** The client has left the channel. Messages of it may arrive until the host has read that. */
  unsubscribed(channel: Uri): void {
    if (this.#upTo.delete(channel)) this.#left.add(channel)
  }

  /** The host has read that the client left the channel. */
  forget(channel: Uri): void {
    if (!this.#upTo.has(channel)) this.#left.delete(channel)
  }

  /** A replay from this number on begins. */
  replaysFrom(seq: number): void {
    this.#last = seq
  }

  delivered(envelope: Envelope): void {
    const { channel, serverSeq: seq, origin, rejectionReason } = envelope
    const { clientId, fail } = this.#facts
    if (seq <= this.#last) fail('I2', `${seq} was sent after ${this.#last}`, envelope)
    this.#last = Math.max(this.#last, seq)
    if (origin?.clientId === clientId) return
    if (!this.expects(channel))
      fail('I9', `received ${seq} of ${channel}, to which it is not subscribed`, envelope)
    if (rejectionReason !== undefined) fail('I9', `received the rejection ${seq} of another client`, envelope)
  }

  /** Everything of the channel up to this number, and the number itself, must have been delivered. */
  reached(channel: Uri, seq: number): void {
    const upTo = this.#upTo.get(channel)
    if (upTo === undefined) return
    this.#check(channel, upTo, seq)
    this.#upTo.set(channel, Math.max(upTo, seq))
  }

  /** Everything of these channels, or of all, below this number must have been delivered. */
  complete(before = Infinity, channels: Iterable<Uri> = this.#upTo.keys()): void {
    for (const channel of channels) this.#check(channel, this.#upTo.get(channel) ?? Infinity, before)
  }

  #check(channel: Uri, upTo: number, before: number): void {
    const missed = this.#facts.missed(channel, upTo, before)
    if (missed !== undefined)
      this.#facts.fail('I2', `did not receive ${missed} of ${channel}, which it has up to ${upTo}`)
  }
}

/** The envelopes that numbers stand for (I2). */
export class Meanings {
  readonly #texts = new Map<string, string>()

  /** Learns an envelope. Returns what its number stood for before, if that was something else. */
  conflict(
    { channel, action, serverSeq, origin, rejectionReason }: Envelope,
    audience = '',
  ): string | undefined {
    const text = mayMerge(action) ? action.type : JSON.stringify(action)
    const meaning = `${channel} ${text} ${origin?.clientId}/${origin?.clientSeq} ${rejectionReason}`
    const key = `${audience} ${serverSeq}`
    const before = this.#texts.get(key)
    if (before === undefined) this.#texts.set(key, meaning)
    return before === meaning ? undefined : before
  }
}

/** Consecutive actions of these types may be delivered as one. */
const growing = new Set([
  'chat/delta',
  'chat/reasoning',
  'session/delta',
  'session/reasoning',
  'terminal/data',
])

export function mayMerge({ type }: Action): boolean {
  return growing.has(type)
}
