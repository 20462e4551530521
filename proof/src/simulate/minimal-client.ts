import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { Audit } from './checks/audit.ts'
import { ClientView } from './checks/client-view.ts'
import type { RunContext, SentRequest } from './checks/context.ts'
import { outcomeOf } from './checks/pending-action.ts'
import type { PendingAction } from './checks/pending-action.ts'
import { SentActions } from './checks/sent-actions.ts'
import { Link } from './link.ts'
import type { Message, Shown } from '../message.ts'
import type { SentMessage } from './link.ts'
import type { Heard, Subscription } from './simulated-client.ts'
import { choosesModels, olderAction } from './speech/older-action.ts'
import { Speech } from './speech/speech.ts'

/**
 * A minimal client. It applies every action it receives, and keeps its own actions until their outcome is known. After a cut it
 * reconnects and resends the actions that it still keeps.
 */
export class MinimalClient {
  readonly id: string
  readonly clientView: ClientView
  readonly #context: RunContext
  readonly subscriptions = new Map<Uri, Subscription>()
  readonly #actions: SentActions
  readonly #speech: Speech
  link: Link | undefined
  audit: Audit | undefined
  /** Whether the host has answered the handshake. */
  open = false
  lastSeen = 0
  clientSeq = 0
  /**
   * Every channel that this client was ever subscribed to. A host whose disk is full may still count the client as a
   * subscriber of a channel that it has left, and replay this channel after a reconnect.
   */
  readonly everSubscribed = new Set<Uri>()
  /** Whether the client has had a link before, so that it can reconnect. */
  canReconnect = false
  #requests = new Map<
    number,
    SentRequest & { readonly answered: (message: Message, expected: unknown) => void }
  >()
  #lastId = 0

  constructor(context: RunContext, id: string, version: Version) {
    this.#context = context
    this.clientView = new ClientView(context, id, version)
    this.#speech = new Speech(version, this.clientView.names)
    this.id = id
    this.#actions = new SentActions(context, id, (uri) => this.clientView.names.nameOf(uri))
  }

  /** Whether the link is open, and no request is waiting for a response. */
  get idle(): boolean {
    return this.open && this.#requests.size === 0
  }

  /** Whether the version of the client has actions that choose the model of a session (V9). */
  get choosesModels(): boolean {
    return choosesModels(this.clientView.version)
  }

  /** The number of actions without a known outcome. */
  get owed(): number {
    return this.#actions.pending.length + this.#actions.unanswered.length
  }

  /**
   * Whether the client waits for a page of older turns. It must not subscribe with another number of turns meanwhile,
   * because the page might not fit the new state.
   */
  get fetchingTurns(): boolean {
    return [...this.#requests.values()].some(({ method }) => method === 'fetchTurns')
  }

  /** Actions whose outcome this client does not know. */
  get pending(): readonly PendingAction[] {
    return this.#actions.pending
  }

  /** Whether the host can answer an action. */
  reaches(action: PendingAction): boolean {
    return this.#actions.reaches(action)
  }

  /** Actions sent over this link without an answer. */
  get unanswered(): readonly PendingAction[] {
    return this.#actions.unanswered
  }

  /** Opens a link with `reconnect` or `initialize`. With `eager`, pending actions are resent before the handshake is answered. */
  begin(
    weight: number,
    how: 'reconnect' | 'initialize',
    subscriptions: readonly Uri[],
    eager: boolean,
  ): Link {
    this.#requests = new Map()
    this.#actions.linkOpened()
    this.open = false
    const audit = new Audit(this.#context, this.id, this.clientView, this.#requests)
    const link: Link = new Link(
      {
        sent: (message, text): Heard => {
          this.#context.trace(() => `${this.id} is sent ${text}`)
          const unnamed = message.error ? undefined : this.clientView.names.unnamed(text)
          if (unnamed !== undefined) this.#context.fail('V8', `${this.id} is sent ${unnamed} in ${text}`)
          const heard = this.#speech.heard(message)
          return { heard, expected: audit.check(heard) }
        },
        received: (sent) => link === this.link && this.#receive(sent),
        ended: () => link === this.link && this.#ended(),
      },
      weight,
    )
    this.link = link
    this.audit = audit
    if (how === 'reconnect') this.#reconnect(subscriptions)
    else this.#initialize(subscriptions)
    if (eager) this.#resend()
    return link
  }

  ask(
    method: string,
    params: SentRequest['params'] & object,
    answered: (message: Message, expected: unknown) => void,
  ): void {
    const id = ++this.#lastId
    this.#requests.set(id, { method, params, answered })
    this.#send({ id, method, params: this.#speech.params(method, { channel: rootUri, ...params }) })
  }

  /**
   * Sends the action now if there is a link, otherwise after the next handshake. An action with `clientSeq` 0 is sent
   * once and not kept.
   */
  dispatch(channel: Uri, given: Action, numbered = true): void {
    const action = olderAction(this.clientView.version, given)
    const pending = { clientSeq: numbered ? ++this.clientSeq : 0, channel, action }
    if (numbered) this.#actions.pending.push(pending)
    if (numbered) this.clientView.sent.set(this.clientSeq, action)
    if (this.open) this.#sendAction(pending)
  }

  create(uri: Uri, active: boolean, directories?: readonly Uri[]): void {
    const { link } = this
    this.#context.unansweredCreations.set(uri, () => link?.hostListens === true)
    const activeClient = { clientId: this.id, displayName: this.id, tools: [] }
    const folders = directories ? { workingDirectories: directories } : {}
    this.ask('createSession', { channel: uri, ...(active && { activeClient }), ...folders }, () => {})
  }

  /** Requests the turns before those that the client has. */
  fetch(uri: Uri): void {
    const state = this.subscriptions.get(uri)?.state as { turnsNextCursor?: string } | undefined
    const cursor = state?.turnsNextCursor
    if (cursor === undefined) return
    this.ask('fetchTurns', { channel: uri, cursor } as SentRequest['params'], () => {})
  }

  subscribe(given: Uri, maxLatencyMs?: number, turns?: number): void {
    const uri = this.clientView.names.followed(given)
    const delivery = maxLatencyMs === undefined ? {} : { delivery: { maxLatencyMs } }
    const windowed = turns !== undefined && !this.choosesModels
    const view = windowed ? { view: { turns } } : {}
    if (windowed) this.clientView.windowed.add(uri)
    this.ask('subscribe', { channel: uri, ...delivery, ...view }, ({ result }) => {
      if (result) this.#takeSnapshot((result as { snapshot: Snapshot }).snapshot)
    })
  }

  unsubscribe(uri: Uri): void {
    this.#send({ method: 'unsubscribe', params: this.#speech.params('unsubscribe', { channel: uri }) })
    this.subscriptions.delete(uri)
    this.audit?.unsubscribed(uri)
    this.ask('listSessions', { left: uri }, () => {})
  }

  /** Ends the link on the client's side. The host may notice much later. */
  cut(): void {
    this.link?.endClient()
  }

  #initialize(initialSubscriptions: readonly Uri[]): void {
    const params = { protocolVersions: [this.clientView.version], clientId: this.id, initialSubscriptions }
    this.ask('initialize', params, ({ result }) => {
      if (!result) return
      const { snapshots, serverSeq } = result as { snapshots: readonly Snapshot[]; serverSeq: number }
      this.subscriptions.clear()
      this.canReconnect = true
      for (const snapshot of snapshots) this.#takeSnapshot(snapshot)
      this.#seen(serverSeq)
      this.#opened()
    })
  }

  #reconnect(subscriptions: readonly Uri[]): void {
    const params = { clientId: this.id, lastSeenServerSeq: this.lastSeen, subscriptions }
    this.ask('reconnect', params, ({ result, error }, expected) => {
      // The host does not know the client, because the handshake was never answered, or because the host has lost its
      // data since. The client starts anew.
      if (error) return void (this.canReconnect = false)
      const { actions, missing, snapshots } = result as Shown
      const blind = subscriptions.find((uri) => !this.subscriptions.has(uri) && !missing?.includes(uri))
      if (actions && blind !== undefined)
        this.#context.fail('I3', `${this.id} received a replay of ${blind}, of which it has no state`)
      for (const uri of missing ?? []) this.subscriptions.delete(uri)
      for (const [at, envelope] of (actions ?? []).entries())
        this.#envelope(envelope, (expected as readonly unknown[])[at])
      if (snapshots) this.subscriptions.clear()
      for (const snapshot of snapshots ?? []) this.#takeSnapshot(snapshot)
      this.#opened()
    })
  }

  #opened(): void {
    this.open = true
    this.#resend()
    // Like some real clients, sends this action on every connection, without a number and always with the same
    // content.
    this.dispatch(rootUri, { type: 'root/configChanged', config: { 'sim.here': this.id } } as Action, false)
  }

  #resend(): void {
    for (const pending of this.#actions.unsent()) this.#sendAction(pending)
  }

  #sendAction(pending: PendingAction): void {
    this.#actions.sent(pending)
    const { channel, clientSeq, action } = pending
    this.#send({ method: 'dispatchAction', params: this.#speech.dispatch(channel, clientSeq, action) })
  }

  #send(message: object): void {
    this.#context.trace(() => `${this.id} sends ${JSON.stringify(message)}`)
    this.link?.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  #ended(): void {
    this.#context.trace(() => `${this.id} has no link`)
    this.link = undefined
    this.audit = undefined
    this.open = false
    this.#requests = new Map()
    this.#actions.linkEnded()
  }

  #receive({ expected: sent, text }: SentMessage): void {
    this.#context.trace(() => `${this.id} receives ${text}`)
    const { heard: message, expected } = sent as Heard
    if (message.method === 'action') return this.#envelope(message.params as Envelope, expected)
    if (message.id === undefined) return
    const request = this.#requests.get(message.id)
    this.#requests.delete(message.id)
    request?.answered(message, expected)
  }

  #envelope({ channel, action, serverSeq, origin, rejectionReason }: Envelope, expected: unknown): void {
    this.#seen(serverSeq)
    if (origin?.clientId === this.id) {
      const answer = { clientSeq: origin.clientSeq, channel, action }
      this.#actions.answered(answer, outcomeOf(answer, serverSeq, rejectionReason), this)
      if (rejectionReason === undefined) this.#context.accepted?.(channel, serverSeq, action)
    }
    const subscription = this.subscriptions.get(channel)
    if (!subscription || rejectionReason !== undefined) return
    subscription.state = this.clientView.reduce(subscription.kind, subscription.state, action)
    subscription.hasGap ||= this.clientView.makesGap(channel, serverSeq)
    if (subscription.hasGap) return
    if (!this.clientView.windowed.has(channel))
      this.#context.past?.add(channel, serverSeq, subscription.state)
    const { kind, state } = subscription
    if (this.clientView.agrees(channel, kind, state, expected)) return
    const where = this.clientView.difference(channel, kind, state, expected)
    this.#context.fail('I3', `${this.id} has a wrong state of ${channel} at ${serverSeq}: ${where}`)
  }

  #takeSnapshot({ resource, state, fromSeq }: Snapshot): void {
    const kind = this.#context.model.channels.get(resource)?.kind
    if (kind) this.subscriptions.set(resource, { kind, state, hasGap: false })
    this.everSubscribed.add(resource)
    if (fromSeq < this.lastSeen)
      this.#context.fail(
        'I8',
        `${this.id} received a snapshot of ${resource} at ${fromSeq} after ${this.lastSeen}`,
      )
    this.#seen(fromSeq)
  }

  #seen(seq: number): void {
    this.lastSeen = Math.max(this.lastSeen, seq)
  }
}
