import { equal } from '@atrium/host/log/equal'
import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import type { ClientView, Located } from './client-view.ts'
import type { RunContext, SentRequest } from './context.ts'
import { isSent } from './deciders.ts'
import { checkExistence } from './existence.ts'
import type { Message, Shown } from '../../message.ts'
import { LinkRules, mayMerge } from '../../judge/link-rules.ts'
import { count } from '../tally.ts'
import type { ModelEntry } from './reference-model.ts'
import { answers } from '../turn-actions.ts'

/** Checks every message of the host on one link at the moment it is sent: its content must be true and durable by then. */
export class Audit {
  readonly #context: RunContext
  readonly #clientId: string
  readonly #clientView: ClientView
  readonly #requests: ReadonlyMap<number, SentRequest>
  readonly #rules: LinkRules

  constructor(
    context: RunContext,
    clientId: string,
    clientView: ClientView,
    requests: ReadonlyMap<number, SentRequest>,
  ) {
    this.#context = context
    this.#clientView = clientView
    this.#clientId = clientId
    this.#requests = requests
    this.#rules = new LinkRules({
      clientId,
      // At rest a channel that is gone owes nothing.
      missed: (channel, after, before) =>
        before < Infinity || context.model.live(channel)
          ? clientView.missed(channel, after, before)?.seq
          : undefined,
      fail: (rule, problem) => this.#fail(rule, problem),
    })
  }

  /** Records an `unsubscribe`. Messages of the channel may still arrive until the host has read the `unsubscribe`. */
  unsubscribed(uri: Uri): void {
    this.#rules.unsubscribed(uri)
  }

  /**
   * Checks one message. Returns the state that the client must have after an envelope, or a list of these states
   * after a replay; undefined for other messages.
   */
  check(message: Message): unknown {
    const { id, method, params, result, error } = message
    if (method === 'action') return this.#envelope(params as Envelope)
    if (method === 'x-atrium/diskFull') return undefined
    if (method !== undefined) return this.#notification(method, params as NotificationParams)
    const request = id === undefined ? undefined : this.#requests.get(id)
    if (request?.method === 'createSession')
      this.#context.unansweredCreations.delete(request.params.channel ?? '')
    if (!request) return undefined
    checkExistence(this.#context, this.#clientId, request, message)
    if (error) return undefined
    return this.#answer(request, (result ?? {}) as Answer)
  }

  /** Fails for every action of a subscribed channel that was never delivered. */
  complete(): void {
    this.#rules.complete()
  }

  #answer({ method, params }: SentRequest, result: Answer): unknown {
    const { model, disk } = this.#context
    const history = model.channels.get(params.channel ?? '')
    if (method === 'createSession' && !(history && history.created.at < disk.durable))
      this.#fail('I1', `createSession of ${params.channel} was answered before it was durable`)
    const ended = method === 'disposeSession' || method === 'disposeChat'
    if (ended && history && !(history.dropped && history.dropped.at < disk.durable))
      this.#fail('I1', `${method} of ${params.channel} was answered before it was durable`)
    if (method === 'createChat' && !this.#wasDurablyIn(params.chat ?? '', params.channel ?? ''))
      this.#fail('I1', `createChat of ${params.chat} was answered before it was durable`)
    if (method === 'moveChat' && !this.#wasDurablyIn(params.channel ?? '', result.session ?? ''))
      this.#fail('I1', `moveChat of ${params.channel} was answered before it was durable`)
    if (method === 'listSessions') this.#list(params.left, result.items ?? [])
    for (const snapshot of result.snapshots ?? []) this.#snapshot(snapshot)
    if (result.snapshot && method === 'subscribe') this.#snapshot(result.snapshot, params.view?.turns)
    if (method !== 'reconnect') return undefined
    for (const uri of result.missing ?? [])
      if (model.live(uri)) this.#fail('I12', `${uri} exists and was reported as missing`)
    if (!result.actions) return undefined
    const lastSeen = params.lastSeenServerSeq ?? 0
    for (const uri of params.subscriptions ?? [])
      if (!result.missing?.includes(uri)) this.#rules.resumed(uri, lastSeen)
    this.#rules.replaysFrom(lastSeen)
    return result.actions.map((envelope) => this.#envelope(envelope, true))
  }

  /** Whether the session durably listed the chat at some time, whatever happened to the chat since. */
  #wasDurablyIn(chat: Uri, session: Uri): boolean {
    const { model, disk } = this.#context
    const lists = (state: unknown) =>
      (state as { chats: readonly { resource: Uri }[] }).chats.some(({ resource }) => resource === chat)
    const { created, entries = [] } = model.channels.get(session) ?? {}
    if (created && created.at < disk.durable && lists(created.state)) return true
    return entries.some(({ at = Infinity, state }) => at < disk.durable && lists(state))
  }

  #list(left: Uri | undefined, items: readonly { readonly resource: Uri }[]): void {
    // The host has answered a request that was sent after the `unsubscribe`, so it has read the `unsubscribe` too.
    if (left !== undefined) this.#rules.forget(left)
    for (const { resource } of items) {
      if (!this.#context.invariants.usedSessions.isDurable(resource))
        this.#fail('I19', `was shown ${resource} in the list before its first use was durable`)
    }
  }

  #envelope(envelope: Envelope, replayed = false): unknown {
    const { channel, action, serverSeq: seq, origin, rejectionReason } = envelope
    this.#checkMeaning(envelope)
    this.#rules.delivered(envelope)
    const own = origin?.clientId === this.#clientId
    if (rejectionReason !== undefined) {
      this.#rejection(envelope, rejectionReason)
      return undefined
    }
    if (!own && !this.#clientView.knows(action))
      this.#fail('V6', `received ${seq} ${action.type}, which its protocol version does not know`)
    if (action.type === 'chat/turnsLoaded' && !own) return this.#page(envelope)
    const located = this.#clientView.locate(channel, seq)
    if (located) this.#entry(located, envelope, own)
    else if (!own || replayed || !this.#changesNothing(envelope))
      this.#fail('I9', `received ${seq} ${action.type}, which is not in the log`)
    // An accepted decision changes something. If it changed nothing, another client had decided before, and the host
    // should have rejected this decision.
    else if (answers.has(action.type))
      this.#fail('X1', `was told that ${seq} ${action.type} was accepted, but another decision came first`)
    if (located) this.#rules.reached(channel, located.entry.seq)
    return this.#clientView.expected(channel, seq)
  }

  /**
   * Checks that a page of older turns, which is sent to this client alone, matches the log. Returns the state at its
   * number.
   */
  #page({ channel, action, serverSeq }: Envelope): unknown {
    const state = this.#clientView.stateAt(channel, serverSeq) as { turns?: readonly { id: string }[] }
    for (const turn of (action as { turns?: readonly { id: string }[] }).turns ?? [])
      if (
        !equal(
          turn,
          state.turns?.find(({ id }) => id === turn.id),
        )
      )
        this.#fail('I9', `received turn ${turn.id} of ${channel} at ${serverSeq}, which differs from the log`)
    return state
  }

  #entry({ uri, entry, lowered, action, origin }: Located, sent: Envelope, own: boolean): void {
    const { seq, at } = entry
    if (lowered === 'rebuild')
      this.#fail('V5', `received ${seq} ${entry.action.type}, which its protocol version cannot express`)
    // If the client's version has no action for the entry, the client receives its own action as it was sent.
    const said = action ?? (own ? this.#clientView.sent.get(origin?.clientSeq ?? 0) : undefined)
    const text = said === entry.action ? entry.text : JSON.stringify(said)
    const unknown = said === undefined && own
    const same = unknown || JSON.stringify(sent.action) === text || mayMerge(entry.action)
    if (!same || sent.origin?.clientSeq !== origin?.clientSeq)
      this.#fail('I2', `${seq} of ${uri} is ${text}, but ${JSON.stringify(sent.action)} was sent`)
    const { model, disk } = this.#context
    const strict = model.channels.get(uri)?.kind.classes.get(entry.action.type) === 'strict'
    if (strict && !(at !== undefined && at < disk.durable))
      this.#fail('I1', `${seq} ${entry.action.type} was sent before it was durable`)
  }

  /**
   * Checks a rejection. An action that is called "already accepted" must be the same action under the same non-zero
   * `clientSeq`.
   */
  #rejection({ channel, action, origin }: Envelope, reason: string): void {
    const sent = this.#clientView.sent.get(origin?.clientSeq ?? 0)
    if (sent && JSON.stringify(sent) !== JSON.stringify(action))
      this.#fail('V8', `sent ${JSON.stringify(sent)}, and ${JSON.stringify(action)} was refused`)
    if (answers.has(action.type))
      count(`refused: ${reason.startsWith('already') ? 'the same again' : reason}`)
    const accepted = /^already accepted as (\d+)$/.exec(reason)?.[1]
    if (accepted === undefined) return
    const entry = this.#clientView.locate(channel, Number(accepted))?.entry
    const isSame = this.#clientView.isPersonal || isSent(entry?.action, action)
    const same = entry?.origin?.clientSeq === origin?.clientSeq && isSame
    if (!same || origin?.clientSeq === 0)
      this.#fail(
        'I5',
        `was told that ${origin?.clientSeq} was accepted as ${accepted}, but the log says otherwise`,
      )
  }

  /** Whether the action changes nothing. The host echoes such an action to its sender, but does not store it. */
  #changesNothing({ channel, action, serverSeq }: Envelope): boolean {
    const kind = this.#context.model.channels.get(channel)?.kind
    const state = this.#clientView.stateAt(channel, serverSeq)
    if (kind === undefined || state === undefined) return false
    return this.#clientView.agrees(channel, kind, this.#clientView.reduce(kind, state, action), state)
  }

  #snapshot({ resource, state, fromSeq }: Snapshot, turns?: number): void {
    const { model, disk } = this.#context
    const history = model.channels.get(resource)
    if (!history) return this.#fail('I9', `received a snapshot of ${resource}, which does not exist`)
    if (history.kind.name === 'chat' && this.#context.invariants.sessionOf(resource) === undefined)
      this.#fail('I9', `received a snapshot of ${resource}, which is still being created`)
    const fold = this.#clientView.expected(resource, fromSeq)
    if (!this.#clientView.agrees(resource, history.kind, state, fold))
      this.#fail(
        'I3',
        `the snapshot of ${resource} at ${fromSeq} differs from the log: ${this.#clientView.difference(resource, history.kind, state, fold)}`,
      )
    const shown = (state as { turns?: readonly unknown[] }).turns?.length
    const all = (fold as { turns?: readonly unknown[] } | undefined)?.turns?.length ?? 0
    // The snapshot may show more turns than requested, because an action under way may need them.
    if (turns !== undefined && (shown ?? 0) < Math.min(turns, all))
      this.#fail('I3', `received ${shown} turns of ${resource}, but asked for ${turns} of ${all}`)
    const parts = this.#clientView.sources(resource, fromSeq).flatMap((uri) => model.channels.get(uri) ?? [])
    const notDurable = parts.find(({ kind, created, entries }) => {
      const isStrict = ({ type }: Action) => kind.classes.get(type) === 'strict'
      const isEarly = ({ seq, action, at = Infinity }: ModelEntry) =>
        seq <= fromSeq && at >= disk.durable && isStrict(action)
      return created.at >= disk.durable || entries.some(isEarly)
    })
    if (notDurable)
      this.#fail('I1', `the snapshot of ${resource} at ${fromSeq} contains something that is not durable`)
    this.#rules.shown(resource, fromSeq)
  }

  #notification(method: string, { session = '', summary, changes }: NotificationParams): void {
    // At 0.1 every client gets these notifications, also without a subscription (V8).
    if (!this.#rules.expects(rootUri) && !this.#clientView.names.nested)
      this.#fail('I9', `received ${method} without a subscription to the root`)
    const history = this.#context.model.channels.get(summary?.resource ?? session)
    const isDurable = (at: number | undefined) => at !== undefined && at < this.#context.disk.durable
    const added = method === 'root/sessionAdded' ? (summary?.resource ?? '') : undefined
    if (added !== undefined && !this.#context.invariants.usedSessions.isDurable(added))
      this.#fail('I19', `${added} was announced before its first use was durable`)
    if (added !== undefined && this.#context.unansweredCreations.get(added)?.())
      this.#fail('I19', `${added} was announced before its creator was answered`)
    if (method === 'root/sessionRemoved' && history && !isDurable(history.dropped?.at))
      this.#fail('I7', `${session} was reported as removed before the removal was durable`)
    if (method !== 'root/sessionSummaryChanged' || changes?.title === undefined) return
    const shown = history?.entries.some(
      ({ at, state }) => isDurable(at) && (state as { title?: string }).title === changes.title,
    )
    if (!shown)
      this.#fail('I7', `the title ${JSON.stringify(changes.title)} was announced before it was durable`)
  }

  /** Checks that a sequence number has one meaning, for every client and for ever. */
  #checkMeaning(envelope: Envelope): void {
    // The text of an action depends on the protocol version, and before 0.9 also on the client. So meanings are
    // compared only within one version, or within one client. A client's own action has the same text in every
    // version.
    const { version, isPersonal } = this.#clientView
    const own = envelope.origin?.clientId === this.#clientId
    const audience = isPersonal ? this.#clientId : own ? '' : version
    const before = this.#context.meanings.conflict(envelope, audience)
    if (before !== undefined)
      this.#fail('I2', `the number ${envelope.serverSeq} meant ${before} before: ${JSON.stringify(envelope)}`)
  }

  #fail(invariant: string, problem: string): void {
    this.#context.fail(invariant, `${this.#clientId} ${problem}`)
  }
}

interface Answer extends Shown {
  readonly session?: Uri
  readonly items?: readonly { readonly resource: Uri }[]
}

interface NotificationParams {
  readonly session?: Uri
  readonly summary?: { readonly resource: Uri }
  readonly changes?: { readonly title?: string }
}
