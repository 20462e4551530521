import type { Action, Uri } from '@atrium/protocol/channel'
import { isDraftOrQueued } from '../turn/pin.ts'
import type { StoredEnvelope } from '../ports/log.ts'

/**
 * What a client that came back may honestly send again: the actions of its own that were accepted and whose echo it
 * had not seen. `clientSeq` 0 is no number, since clients in the field use it for everything.
 */
export class Resends {
  readonly #accepted = new Map<number, StoredEnvelope>()

  constructor(own: readonly StoredEnvelope[]) {
    for (const envelope of own)
      if (envelope.origin && envelope.origin.clientSeq > 0)
        this.#accepted.set(envelope.origin.clientSeq, envelope)
  }

  /** Whether this was accepted before: then its number. Anything else is new. */
  match(channel: Uri, clientSeq: number, action: Action): number | undefined {
    const before = this.#accepted.get(clientSeq)
    if (
      !before ||
      before.channel !== channel ||
      !isDraftOrQueued(JSON.parse(before.action) as Action, action)
    )
      return undefined
    this.#accepted.delete(clientSeq)
    return before.seq
  }
}
