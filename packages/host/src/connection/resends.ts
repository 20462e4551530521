import type { Action } from '@atrium/protocol/channel'
import type { DispatchLists } from '../kernel/dispatch-rules.ts'
import type { Channel } from '../kernel/log/channel.ts'
import type { StoredEnvelope } from '../ports/log.ts'
import { storedAction } from '../kernel/log/entry.ts'

/**
 * The actions that a reconnected client may repeat: the host has accepted them, and the client may not have seen their
 * echoes. A `clientSeq` of 0 identifies no action, because existing clients use 0 for many actions.
 */
export class Resends {
  readonly #accepted = new Map<number, StoredEnvelope>()
  readonly #rules: Pick<DispatchLists<unknown>, 'resends' | 'movedResends'>
  readonly #filled: boolean

  /** `filled`: the host has added times, a model and an agent to the client's actions, because the client's version has none. */
  constructor(
    rules: Pick<DispatchLists<unknown>, 'resends' | 'movedResends'>,
    own: readonly StoredEnvelope[],
    filled = false,
  ) {
    this.#rules = rules
    this.#filled = filled
    for (const envelope of own)
      if (envelope.origin && envelope.origin.clientSeq > 0)
        this.#accepted.set(envelope.origin.clientSeq, envelope)
  }

  /**
   * Returns an action that was accepted before, with its sequence number and the channel on which it is stored; undefined for a new
   * action. Each accepted action is returned once.
   */
  match(
    channel: Pick<Channel, 'uri' | 'kindName'>,
    clientSeq: number,
    action: Action,
  ): StoredEnvelope | undefined {
    const before = this.#accepted.get(clientSeq)
    if (!before) return undefined
    const { resends, movedResends } = this.#rules
    const accepted = storedAction(before.action)
    const [first, again] = this.#filled
      ? [withoutFilled(accepted), withoutFilled(action)]
      : [accepted, action]
    const same =
      before.channel === channel.uri
        ? resends.some((isResend) => isResend(first, again))
        : movedResends.some((isResend) => isResend(accepted, action, channel))
    if (!same) return undefined
    this.#accepted.delete(clientSeq)
    return before
  }
}

/** Removes the members that the host may have filled in. They differ between an action and its resend. */
function withoutFilled(action: Action): Action {
  const { startedAt: _startedAt, duration: _duration, message, ...rest }: Filled = action
  if (!message) return rest
  const { model: _model, agent: _agent, ...kept } = message
  // The removed members are those that the client's version does not have. So the result is still an action of its
  // type.
  return { ...rest, message: kept } as Action
}

interface Filled extends Action {
  readonly startedAt?: unknown
  readonly duration?: unknown
  readonly message?: { readonly model?: unknown; readonly agent?: unknown }
}
