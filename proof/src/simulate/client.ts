import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import type { ChannelKind } from '@atrium/protocol/kind'
import { rootUri } from '@atrium/protocol/uri'
import { Audit } from './audit.ts'
import type { Court, Question } from './audit.ts'
import { Eye } from './eye.ts'
import { Link } from './link.ts'
import type { Message, Said } from './link.ts'

/** What a client has dispatched and not seen the end of. */
export interface Wish {
  readonly clientSeq: number
  readonly channel: Uri
  readonly action: Action
}

interface Following {
  readonly kind: ChannelKind
  state: unknown
}

/**
 * A client without a mind: it folds what it is told, keeps what it wished until that has ended, and after a cut comes
 * back and sends again what has not.
 */
export class Client {
  readonly id: string
  readonly eye: Eye
  readonly #court: Court
  readonly follows = new Map<Uri, Following>()
  pending: Wish[] = []
  link: Link | undefined
  audit: Audit | undefined
  /** The host has answered the handshake. */
  open = false
  lastSeen = 0
  clientSeq = 0
  /** What it has ever followed: it may have none of it now, and a host whose disk is full cannot be sure to know that. */
  readonly had = new Set<Uri>()
  /** It had a link before, so it can come back. */
  known = false
  #asked = new Map<number, Question & { readonly answered: (message: Message, truth: unknown) => void }>()
  #lastId = 0
  /** In the order they went over this link: they end in that order. */
  #sent: Wish[] = []
  /** Whatever went over this link, answered or not. */
  #said = new Set<Wish>()
  /** Went over a link before this one: their answers may be lost, or come later than those of newer ones. */
  #again = new Set<Wish>()

  /** Each wish's end, by number. */
  readonly #ends = new Map<number, number>()

  constructor(court: Court, id: string, version: Eye['version']) {
    this.#court = court
    this.eye = new Eye(version)
    this.id = id
  }

  /** Nobody owes it an answer. */
  get content(): boolean {
    return this.open && this.#asked.size === 0
  }

  /** It waits for a page of older turns: whoever asks for another view meanwhile gets the two mixed up. */
  get pages(): boolean {
    return [...this.#asked.values()].some(({ method }) => method === 'fetchTurns')
  }

  /** What this link was sent and has not answered. */
  get unanswered(): readonly Wish[] {
    return this.#sent
  }

  /** A new link, as a client that comes back or as one that begins anew; what it wished is sent again at once. */
  begin(
    weight: number,
    how: 'reconnect' | 'initialize',
    subscriptions: readonly Uri[],
    eager: boolean,
  ): Link {
    this.#asked = new Map()
    this.#sent = []
    this.#again = new Set([...this.#again, ...this.#said])
    this.#said = new Set()
    this.open = false
    const audit = new Audit(this.#court, this.id, this.eye, this.#asked)
    const link: Link = new Link(
      {
        said: (message) => {
          this.#court.trace(() => `${this.id} is told ${JSON.stringify(message)}`)
          return audit.said(message)
        },
        heard: (said) => link === this.link && this.#heard(said),
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
    params: Question['params'] & object,
    answered: (message: Message, truth: unknown) => void,
  ): void {
    const id = ++this.#lastId
    this.#asked.set(id, { method, params, answered })
    this.#send({ id, method, params: { channel: rootUri, ...params } })
  }

  /** Sent at once where there is a link, else when there is one again. `clientSeq` 0 is sent and forgotten. */
  dispatch(channel: Uri, action: Action, numbered = true): void {
    const wish = { clientSeq: numbered ? ++this.clientSeq : 0, channel, action }
    if (numbered) this.pending.push(wish)
    if (this.open) this.#wish(wish)
  }

  create(uri: Uri, active: boolean, directories?: readonly Uri[]): void {
    const { link } = this
    this.#court.owed.set(uri, () => link?.hears === true)
    const activeClient = { clientId: this.id, displayName: this.id, tools: [] }
    const places = directories ? { workingDirectories: directories } : {}
    this.ask('createSession', { channel: uri, ...(active && { activeClient }), ...places }, () => {})
  }

  /** The turns before those that it has. */
  fetch(uri: Uri): void {
    const state = this.follows.get(uri)?.state as { turnsNextCursor?: string } | undefined
    const cursor = state?.turnsNextCursor
    if (cursor === undefined) return
    this.ask('fetchTurns', { channel: uri, cursor } as Question['params'], () => {})
  }

  subscribe(uri: Uri, maxLatencyMs?: number, turns?: number): void {
    const delivery = maxLatencyMs === undefined ? {} : { delivery: { maxLatencyMs } }
    const view = turns === undefined ? {} : { view: { turns } }
    if (turns !== undefined) this.eye.narrow.add(uri)
    this.ask('subscribe', { channel: uri, ...delivery, ...view }, ({ result }) => {
      if (result) this.#take((result as { snapshot: Snapshot }).snapshot)
    })
  }

  unsubscribe(uri: Uri): void {
    this.#send({ method: 'unsubscribe', params: { channel: uri } })
    this.follows.delete(uri)
    this.audit?.left(uri)
    this.ask('listSessions', { left: uri }, () => {})
  }

  /** The end of the link, which it may learn long before the host does. */
  cut(): void {
    this.link?.endClient()
  }

  #initialize(initialSubscriptions: readonly Uri[]): void {
    const params = { protocolVersions: [this.eye.version], clientId: this.id, initialSubscriptions }
    this.ask('initialize', params, ({ result }) => {
      if (!result) return
      const { snapshots, serverSeq } = result as { snapshots: readonly Snapshot[]; serverSeq: number }
      this.follows.clear()
      this.known = true
      for (const snapshot of snapshots) this.#take(snapshot)
      this.#seen(serverSeq)
      this.#opened()
    })
  }

  #reconnect(subscriptions: readonly Uri[]): void {
    const params = { clientId: this.id, lastSeenServerSeq: this.lastSeen, subscriptions }
    this.ask('reconnect', params, ({ result, error }, truth) => {
      // It was never told that it was known, or the host has forgotten everything since: it begins anew.
      if (error) return void (this.known = false)
      const { actions, missing, snapshots } = result as Returned
      const blind = subscriptions.find((uri) => !this.follows.has(uri) && !missing?.includes(uri))
      if (actions && blind !== undefined)
        this.#court.fail('I3', `${this.id} was given a replay of ${blind}, of which it has no state`)
      for (const uri of missing ?? []) this.follows.delete(uri)
      for (const [at, envelope] of (actions ?? []).entries())
        this.#envelope(envelope, (truth as readonly unknown[])[at])
      if (snapshots) this.follows.clear()
      for (const snapshot of snapshots ?? []) this.#take(snapshot)
      this.#opened()
    })
  }

  #opened(): void {
    this.open = true
    this.#resend()
    // As some clients do whenever they are connected: without a number, the same each time.
    this.dispatch(rootUri, { type: 'root/configChanged', config: { 'sim.here': this.id } } as Action, false)
  }

  #resend(): void {
    for (const wish of this.pending) if (!this.#said.has(wish)) this.#wish(wish)
  }

  #wish(wish: Wish): void {
    this.#sent.push(wish)
    this.#said.add(wish)
    this.#send({ method: 'dispatchAction', params: wish })
  }

  #send(message: object): void {
    this.#court.trace(() => `${this.id} sends ${JSON.stringify(message)}`)
    this.link?.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  #ended(): void {
    this.#court.trace(() => `${this.id} has no link`)
    this.link = undefined
    this.audit = undefined
    this.open = false
    this.#asked = new Map()
    this.#sent = []
  }

  #heard({ message, truth }: Said): void {
    this.#court.trace(() => `${this.id} hears ${JSON.stringify(message)}`)
    if (message.method === 'action') return this.#envelope(message.params as Envelope, truth)
    if (message.id === undefined) return
    const question = this.#asked.get(message.id)
    this.#asked.delete(message.id)
    question?.answered(message, truth)
  }

  #envelope({ channel, action, serverSeq, origin, rejectionReason }: Envelope, truth: unknown): void {
    this.#seen(serverSeq)
    if (origin?.clientId === this.id) this.#answered(origin.clientSeq, channel, action, serverSeq)
    const following = this.follows.get(channel)
    if (!following || rejectionReason !== undefined) return
    following.state = this.eye.reduce(following.kind, following.state, action)
    if (!this.eye.sees(channel, following.kind, following.state, truth))
      this.#court.fail('I3', `${this.id} sees another ${channel} at ${serverSeq} than the log tells`)
  }

  /** Its own come back in the order it sent them. */
  #answered(clientSeq: number, channel: Uri, action: Action, seq: number): void {
    const end = this.#ends.get(clientSeq) ?? seq
    if (clientSeq > 0) this.#ends.set(clientSeq, end)
    if (end !== seq)
      this.#court.fail('I5', `the wish ${clientSeq} of ${this.id} ended twice, as ${end} and as ${seq}`)
    this.pending = this.pending.filter((wish) => wish.clientSeq !== clientSeq)
    const at = this.#sent.findIndex(
      (wish) =>
        wish.clientSeq === clientSeq &&
        (clientSeq > 0 || (wish.channel === channel && same(wish.action, action))),
    )
    if (at < 0) return
    // What a replay shows needs no answer of its own; and without a number one cannot know which of them is answered.
    if (!this.open || clientSeq === 0) return void this.#sent.splice(at, 1)
    const before = this.#sent.slice(0, at).filter((wish) => !this.#again.has(wish))
    // When its host is dead, it may be there again what was gone when that looked.
    const alive = this.link?.hears === true
    const overtaken = before.find((wish) => alive && this.#court.truth.living(wish.channel))
    if (overtaken)
      this.#court.fail('I2', `${this.id} was answered ${clientSeq} before ${overtaken.clientSeq}`)
    this.#sent = [
      ...this.#sent.slice(0, at).filter((wish) => this.#again.has(wish)),
      ...this.#sent.slice(at + 1),
    ]
  }

  #take({ resource, state, fromSeq }: Snapshot): void {
    const kind = this.#court.truth.stories.get(resource)?.kind
    if (kind) this.follows.set(resource, { kind, state })
    this.had.add(resource)
    if (fromSeq < this.lastSeen)
      this.#court.fail('I8', `${this.id} was given ${resource} at ${fromSeq} after ${this.lastSeen}`)
    this.#seen(fromSeq)
  }

  #seen(seq: number): void {
    this.lastSeen = Math.max(this.lastSeen, seq)
  }
}

interface Returned {
  readonly actions?: readonly Envelope[]
  readonly missing?: readonly Uri[]
  readonly snapshots?: readonly Snapshot[]
}

function same(a: Action, b: Action): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
