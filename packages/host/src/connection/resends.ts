import type { Action } from '@atrium/protocol/channel'
import { isConversionOf } from '../chat/answer-conversion.ts'
import { isRename, isRenameOf } from '../dispatch/rename.ts'
import type { Channel } from '../log/channel.ts'
import { isResendOf } from '../turn/pin.ts'
import type { StoredEnvelope } from '../ports/log.ts'

/**
 * The actions that a reconnected client may repeat: the host has accepted them, and the client may not have seen their
 * echoes. A `clientSeq` of 0 identifies no action, because existing clients use 0 for many actions.
 */
export class Resends {
  readonly #accepted = new Map<number, StoredEnvelope>()

  constructor(own: readonly StoredEnvelope[]) {
    for (const envelope of own)
      if (envelope.origin && envelope.origin.clientSeq > 0)
        this.#accepted.set(envelope.origin.clientSeq, envelope)
  }

  /**
   * Returns the sequence number of an action that was accepted before; undefined for a new action. Each accepted action is
   * returned once.
   */
  match(channel: Pick<Channel, 'uri' | 'kindName'>, clientSeq: number, action: Action): number | undefined {
    const before = this.#accepted.get(clientSeq)
    if (!before) return undefined
    const accepted = JSON.parse(before.action) as Action
    const same =
      before.channel === channel.uri
        ? isResendOf(accepted, action) || isConversionOf(accepted, action)
        : isRename(channel, action) && isRenameOf(accepted, channel.uri, action)
    if (!same) return undefined
    this.#accepted.delete(clientSeq)
    return before.seq
  }
}
