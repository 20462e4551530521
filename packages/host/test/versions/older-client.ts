import type { Action } from '@atrium/protocol/channel'
import { oracle } from '@atrium/protocol/oracles'
import type { Oracle, OracleReducer } from '@atrium/protocol/oracles'
import { Wire } from '@atrium/protocol/oracles/wire'
import type { Value } from '@atrium/protocol/oracles/wire'
import { clientLimits } from '@atrium/protocol/rpc/frame-check'
import { Peer } from '@atrium/protocol/rpc/peer'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { Version } from '@atrium/protocol/versions/negotiate'
import type { TestHost } from '../test-host.ts'

export type { Value } from '@atrium/protocol/oracles/wire'

/** An envelope of any version. In 0.1 it has no channel. */
export interface OlderEnvelope {
  readonly channel?: string
  readonly action: Action & Value
  readonly serverSeq: number
  readonly origin?: { readonly clientId: string; readonly clientSeq: number }
  readonly rejectionReason?: string
}

/** A client that speaks one version of AHP and reduces its channels by the rules of that version. */
export class OlderClient {
  readonly version: Version
  readonly clientId: string
  readonly states = new Map<string, Value>()
  readonly envelopes: OlderEnvelope[] = []
  readonly notes: { readonly method: string; readonly params: Value }[] = []
  readonly #all: TestHost
  readonly #oracle: Oracle
  readonly #wire: Wire
  readonly #waiting = new Set<() => void>()
  #peer: Peer
  lastSeen = 0
  clientSeq = 0

  constructor(all: TestHost, version: Version, clientId = `at ${version}`) {
    this.#all = all
    this.version = version
    this.clientId = clientId
    this.#oracle = oracle(version)
    this.#wire = new Wire(version)
    this.#peer = this.#dial()
  }

  /** In 0.1 an action names its channel, and params have no channel. */
  get nested(): boolean {
    return this.#wire.nested
  }

  /** Up to 0.3 the turns are part of the session. */
  get merged(): boolean {
    return this.#wire.merged
  }

  get root(): string {
    return this.#wire.root
  }

  get closed(): AbortSignal {
    return this.#peer.closed
  }

  /** The channel of a session's turns. */
  turnsOf(session: string): string {
    return this.merged ? session : defaultChatUri(session)
  }

  /** The type of a turn's action. */
  turnType(name: string): string {
    return this.#wire.turnType(name)
  }

  async open(subscriptions: readonly string[] = []): Promise<Value> {
    return this.ask('initialize', {
      protocolVersions: [this.version],
      clientId: this.clientId,
      initialSubscriptions: subscriptions,
    })
  }

  /** Loses the connection and reconnects with every channel. */
  async reconnect(channels = [...this.states.keys()]): Promise<Value> {
    this.#peer.close()
    this.#peer = this.#dial()
    return this.ask('reconnect', {
      clientId: this.clientId,
      lastSeenServerSeq: this.lastSeen,
      subscriptions: channels,
    })
  }

  /** Loses the connection. */
  unplug(): void {
    this.#peer.close()
  }

  async ask(method: string, params: Value, channel = this.root): Promise<Value> {
    const received = (result: unknown) => this.#applyResult(result as Value | null)
    return (await this.#peer.request(method, this.#wire.params(method, channel, params), received)) as Value
  }

  subscribe(uri: string): Promise<Value> {
    return this.ask('subscribe', {}, uri)
  }

  unsubscribe(uri: string): void {
    this.#peer.notify('unsubscribe', this.#wire.params('unsubscribe', uri))
    this.states.delete(uri)
  }

  createSession(uri: string, params: Value = {}): Promise<Value> {
    return this.ask('createSession', params, uri)
  }

  dispatch(uri: string, action: Action & Value): number {
    const clientSeq = ++this.clientSeq
    this.#peer.notify('dispatchAction', this.#wire.dispatch(uri, clientSeq, action))
    return clientSeq
  }

  /** Dispatches an action of 0.1 that does not name its channel. */
  dispatchBare(action: Action & Value): number {
    const clientSeq = ++this.clientSeq
    this.#peer.notify('dispatchAction', { clientSeq, action })
    return clientSeq
  }

  /** Resolves with the echo or the refusal of a dispatch. */
  async echo(clientSeq: number): Promise<OlderEnvelope> {
    const own = ({ origin }: OlderEnvelope) =>
      origin?.clientId === this.clientId && origin.clientSeq === clientSeq
    await this.until(() => this.envelopes.some(own))
    return this.envelopes.find(own) as OlderEnvelope
  }

  state(uri: string): Value {
    const state = this.states.get(uri)
    if (!state) throw new Error(`${this.clientId} has no ${uri}`)
    return state
  }

  /** Resolves when a condition on the states and messages holds. */
  async until(done: () => boolean): Promise<void> {
    while (!done()) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  #dial(): Peer {
    const peer: Peer = new Peer(
      this.#all.wire()[1],
      {
        request: () => null,
        notification: (method, params) => {
          if (peer === this.#peer) this.#receive(method, params as Value)
        },
      },
      { limits: clientLimits },
    )
    peer.closed.addEventListener('abort', () => this.#wake())
    return peer
  }

  #receive(method: string, params: Value): void {
    if (method === 'action') this.#apply(params as unknown as OlderEnvelope)
    else this.notes.push({ method, params })
    this.#wake()
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }

  #apply(envelope: OlderEnvelope): void {
    const { action, serverSeq, rejectionReason } = envelope
    this.envelopes.push(envelope)
    this.lastSeen = Math.max(this.lastSeen, serverSeq)
    const channel = this.#wire.channelOf(envelope) ?? ''
    const state = this.states.get(channel)
    if (!state || rejectionReason !== undefined) return
    this.states.set(channel, this.#reducerOf(state)(state, action, 0) as Value)
  }

  #reducerOf(state: Value): OracleReducer {
    if ('agents' in state) return this.#oracle.root
    if ('content' in state) return this.#oracle.terminal
    if ('files' in state && this.#oracle.changeset) return this.#oracle.changeset
    if (Array.isArray(state['annotations']) && this.#oracle.annotations) return this.#oracle.annotations
    const isChat = 'turns' in state && !this.merged
    return isChat && this.#oracle.chat ? this.#oracle.chat : this.#oracle.session
  }

  #applyResult(result: Value | null): void {
    const { snapshot, snapshots, actions, serverSeq } = (result ?? {}) as {
      snapshot?: Snapshot
      snapshots?: Snapshot[]
      actions?: OlderEnvelope[]
      serverSeq?: number
    }
    for (const { resource, state, fromSeq } of [...(snapshots ?? []), ...(snapshot ? [snapshot] : [])]) {
      this.states.set(resource, state)
      this.lastSeen = Math.max(this.lastSeen, fromSeq)
    }
    for (const envelope of actions ?? []) this.#apply(envelope)
    this.lastSeen = Math.max(this.lastSeen, serverSeq ?? 0)
    this.#wake()
  }
}

interface Snapshot {
  readonly resource: string
  readonly state: Value
  readonly fromSeq: number
}
