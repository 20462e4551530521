import type { Action, Uri } from '@atrium/protocol/channel'
import { equal } from './equal.ts'
import type { StoredEnvelope } from './ports/log.ts'

/**
 * What a client that came back may honestly send again: the actions of its own that were accepted and whose echo it
 * had not seen. `clientSeq` 0 is no number, since clients in the field use it for everything.
 */
export class Resends {
  readonly #accepted = new Map<number, StoredEnvelope>()
  readonly #replayed: Replayed
  /**
   * The number before the first that its answer does not show: until the client is known to have heard of them all, they
   * may come again on a later link. Nothing where there is none.
   */
  readonly unsettled: number | undefined

  constructor(own: readonly StoredEnvelope[], replayed: Replayed = { channels: new Set(), after: 0 }) {
    this.#replayed = replayed
    const numbered = own.filter(({ origin }) => origin && origin.clientSeq > 0)
    for (const envelope of numbered) this.#accepted.set(envelope.origin?.clientSeq ?? 0, envelope)
    const hidden = numbered.filter((envelope) => !this.#echoed(envelope)).map(({ seq }) => seq)
    this.unsettled = hidden.length === 0 ? undefined : Math.min(...hidden) - 1
  }

  /** Whether this was accepted before: then its number, and whether the client has been told. Anything else is new. */
  match(channel: Uri, clientSeq: number, action: Action): { seq: number; echoed: boolean } | undefined {
    const before = this.#accepted.get(clientSeq)
    if (!before || before.channel !== channel || !equal(JSON.parse(before.action), action)) return undefined
    this.#accepted.delete(clientSeq)
    return { seq: before.seq, echoed: this.#echoed(before) }
  }

  #echoed({ channel, seq }: StoredEnvelope): boolean {
    return this.#replayed.channels.has(channel) && seq > this.#replayed.after
  }
}

/** What the answer to a return shows: a resend of what is in there needs no echo. */
export interface Replayed {
  readonly channels: ReadonlySet<Uri>
  readonly after: number
}
