import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import type { Peer } from '@atrium/protocol/rpc/peer'
import type { Channel } from './channel.ts'
import type { PendingActions } from './pending-actions.ts'
import type { World } from '../shared/world.ts'

/**
 * If the outcome of an action takes longer than `firstMs`, the client asks the host about the channel. The time
 * doubles with every query, up to `lastMs`.
 */
const firstMs = 5_000
const lastMs = 60_000

/**
 * Finds pending actions that never get an outcome, because their channel does not exist. When an outcome is late, the
 * client asks the host whether the channel exists.
 */
export class OutcomeQuery {
  readonly #world: World
  readonly #pending: PendingActions
  readonly #ask: (channel: Uri) => void
  #cancel: (() => void) | undefined

  constructor(world: World, pending: PendingActions, ask: (channel: Uri) => void) {
    this.#world = world
    this.#pending = pending
    this.#ask = ask
  }

  /** Call after sending an action. One timer serves all pending actions. */
  begin(ms = firstMs): void {
    if (this.#cancel) return
    const waiting = new Set(this.#pending.sent)
    this.#cancel = this.#world.after(ms, () => {
      this.#cancel = undefined
      const unanswered = this.#pending.sent.filter((action) => waiting.has(action))
      for (const channel of new Set(unanswered.map(({ channel }) => channel))) this.#ask(channel)
      if (this.#pending.sent.length > 0)
        this.begin(unanswered.length > 0 ? Math.min(2 * ms, lastMs) : firstMs)
    })
  }

  end(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}

/**
 * Sends a request that fails with a not-found error only if the channel does not exist. For a subscribed chat it
 * requests a page of turns with an invalid cursor, because `subscribe` would change the host's record of the turns
 * that this client has.
 */
export function probe(peer: Peer, channel: Uri, known: Channel | undefined): Promise<unknown> {
  if (known?.kind === 'chat') return peer.request('fetchTurns', { channel, cursor: '' })
  return peer.request('subscribe', { channel, ...(known?.options ?? { view: { turns: 0 } }) })
}

export function isAbsent(error: unknown): boolean {
  if (!(error instanceof AhpError)) return false
  return error.code === errorCodes.NotFound || error.code === errorCodes.SessionNotFound
}
