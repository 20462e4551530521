import type { SessionActiveClient } from '@atrium/protocol/session/state'
import type { Subscription } from './sync/handle.ts'
import type { Outcome } from './sync/pending-actions.ts'

/**
 * Keeps a client among the active clients of a session. A host removes a client that is away for longer than its grace
 * period; such a client joins again as soon as it sees that.
 */
export class ActiveClient {
  readonly #session: Subscription<'session'>
  readonly #entry: () => SessionActiveClient
  readonly #unsubscribe: () => void
  /** Whether the client has sent its entry, but is not yet among the active clients in the host's state. */
  #isJoining = false

  constructor(session: Subscription<'session'>, entry: () => SessionActiveClient) {
    this.#session = session
    this.#entry = entry
    this.#unsubscribe = session.onChange(() => this.#joinAgain())
  }

  /** Sends the entry of this client, which replaces an earlier one. */
  join(): Promise<Outcome> {
    this.#isJoining = true
    return this.#session.dispatch({ type: 'session/activeClientSet', activeClient: this.#entry() })
  }

  leave(): Promise<Outcome> {
    this.#unsubscribe()
    const { clientId } = this.#entry()
    return this.#session.dispatch({ type: 'session/activeClientRemoved', clientId })
  }

  /** A client that the host has refused does not ask again. */
  #joinAgain(): void {
    const { confirmed, status } = this.#session
    if (!confirmed || status !== 'open') return
    const { clientId } = this.#entry()
    if (confirmed.activeClients.some((client) => client.clientId === clientId)) this.#isJoining = false
    else if (!this.#isJoining) void this.join()
  }
}
