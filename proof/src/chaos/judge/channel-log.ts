import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { Run, StoredChannel } from '../history.ts'
import { canonical, isRelaxed } from './compare.ts'
import type { ClientEvents } from './event.ts'

/** The whole log of a channel as the disk has it: every envelope, and the state after each. */
export class ChannelLog {
  readonly channel: StoredChannel
  readonly kind: ChannelKind
  readonly #bySeq: ReadonlyMap<number, Envelope>
  readonly #numbers: readonly number[]
  readonly #states: readonly unknown[]
  readonly #from: number

  constructor(channel: StoredChannel, kind: ChannelKind, base: { seq: number; state: unknown }) {
    this.channel = channel
    this.kind = kind
    this.#from = base.seq
    this.#bySeq = new Map(channel.envelopes.map((envelope) => [envelope.serverSeq, envelope]))
    const later = channel.envelopes.filter(({ serverSeq }) => serverSeq > base.seq)
    this.#numbers = later.map(({ serverSeq }) => serverSeq)
    let state = base.state
    this.#states = [state, ...later.map(({ action }) => (state = kind.reduce(state, action)))]
  }

  at(seq: number): Envelope | undefined {
    return this.#bySeq.get(seq)
  }

  /** Returns the first number above `after` and below `before` whose envelope may not be merged with others. */
  strictBetween(after: number, before: number): number | undefined {
    return this.channel.envelopes.find(
      (envelope) => envelope.serverSeq > after && envelope.serverSeq < before && !isRelaxed(envelope),
    )?.serverSeq
  }

  /** Returns the state after all envelopes up to a sequence number; undefined before the first known state. */
  stateAt(seq: number): unknown {
    if (seq < this.#from) return undefined
    let count = this.#numbers.length
    while (count > 0 && (this.#numbers[count - 1] ?? 0) > seq) count--
    return this.#states[count]
  }

  /** Yields every folded envelope, with the state before it. */
  *steps(): Iterable<{ readonly envelope: Envelope; readonly before: unknown }> {
    for (const [at, seq] of this.#numbers.entries()) {
      const envelope = this.#bySeq.get(seq)
      if (envelope) yield { envelope, before: this.#states[at] }
    }
  }

  get last(): unknown {
    return this.#states.at(-1)
  }

  /** Whether an action with this sequence number may have changed nothing. Such an action need not be stored. */
  mayBeUnchanged(seq: number, action: Action): boolean {
    const before = this.stateAt(seq - 1)
    // No state that old is known, because the store has replaced the state at creation by a later one. So the action
    // may have changed nothing.
    if (before === undefined) return true
    return canonical(this.kind.reduce(before, action)) === canonical(before)
  }
}

/**
 * Returns the logs of the channels that exist at the end. A log starts from the state at creation. If the store has
 * replaced that state by a later one, the log starts from the oldest snapshot that a client received.
 */
export function channelLogs({ stored }: Run, clients: readonly ClientEvents[]): ReadonlyMap<Uri, ChannelLog> {
  const oldest = oldestSnapshots(clients)
  const logs = stored.channels.flatMap((channel) => {
    const kind = kindNamed(channel.kind)
    const base = channel.birth ?? oldest.get(channel.uri)
    return kind && base ? [[channel.uri, new ChannelLog(channel, kind, base)] as const] : []
  })
  return new Map(logs)
}

function oldestSnapshots(
  clients: readonly ClientEvents[],
): ReadonlyMap<Uri, { seq: number; state: unknown }> {
  const oldest = new Map<Uri, { seq: number; state: unknown }>()
  for (const event of clients.flatMap(({ events }) => events)) {
    if (event.what !== 'subscribed' || !event.snapshot) continue
    const { state, fromSeq: seq } = event.snapshot
    if (seq < (oldest.get(event.channel)?.seq ?? Infinity)) oldest.set(event.channel, { seq, state })
  }
  return oldest
}
