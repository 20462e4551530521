import { randomUUID } from 'node:crypto'
import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import { Wire } from '@atrium/protocol/oracles/wire'
import { versions } from '@atrium/protocol/versions/negotiate'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { listOf, shapeOf, textOf } from '@atrium/protocol/versions/shape'
import type { Shape } from '@atrium/protocol/versions/shape'
import { Failed, check, excerpt } from '../kit/check.ts'
import { Link } from '../kit/link.ts'
import type { Answer, Login, Target } from '../kit/link.ts'

/** More pages than any list needs. The limit ends a listing whose cursors lead in a circle. */
const mostPages = 1000

export function isSince(version: Version, since: Version): boolean {
  return versions.indexOf(version) >= versions.indexOf(since)
}

/**
 * A connection that writes every message as its version of AHP does, without anything that only other versions have.
 */
export class Speaker extends Link {
  readonly version: Version
  readonly clientId: string
  readonly #logins: readonly Login[]
  readonly #wire: Wire
  /** The highest sequence number that came in a message other than an envelope. */
  #lastSeen = 0
  #clientSeq: number

  constructor(target: Target, version: Version, earlier?: Speaker) {
    super(target)
    this.version = version
    this.#wire = new Wire(version)
    this.clientId = earlier?.clientId ?? `conformance-${version}-${randomUUID()}`
    this.#clientSeq = earlier?.lastClientSeq ?? 0
    this.#logins = target.logins ?? []
  }

  /** Tells whether this version has what `since` added. */
  has(since: Version): boolean {
    return isSince(this.version, since)
  }

  get root(): Uri {
    return this.#wire.root
  }

  get lastClientSeq(): number {
    return this.#clientSeq
  }

  get lastSeen(): number {
    return this.envelopes.reduce((highest, { serverSeq }) => Math.max(highest, serverSeq), this.#lastSeen)
  }

  /** Sends a request that must be answered with a result. */
  async ask(method: string, params: object = {}): Promise<Shape> {
    const answer = await this.try(method, params)
    if ('error' in answer) throw new Failed(`a result of ${method}`, `error ${excerpt(answer.error)}`)
    return shapeOf(answer.result)
  }

  try(method: string, params: object = {}): Promise<Answer> {
    return this.request(method, this.#written(params))
  }

  async initialize(): Promise<Answer> {
    const answer = await this.try('initialize', {
      protocolVersions: [this.version],
      clientId: this.clientId,
      initialSubscriptions: [this.root],
      ...(this.has('0.5.2') && { clientInfo: { name: 'conformance' } }),
    })
    if ('error' in answer) return answer
    const result = shapeOf(answer.result)
    check(result['protocolVersion'] === this.version, `protocolVersion ${this.version}`, result)
    this.saw(Number(result['serverSeq']))
    for (const { resource, token } of this.#logins) await this.ask('authenticate', { resource, token })
    return answer
  }

  /** The result of `reconnect`: the envelopes that were missed, or snapshots. */
  reconnect(earlier: Speaker, subscriptions: readonly Uri[]): Promise<Shape> {
    this.saw(earlier.lastSeen)
    return this.ask('reconnect', {
      clientId: this.clientId,
      lastSeenServerSeq: earlier.lastSeen,
      subscriptions: [this.root, ...subscriptions],
    })
  }

  async subscribe(uri: Uri): Promise<Shape> {
    const { snapshot } = await this.ask('subscribe', this.#wire.params('subscribe', uri))
    const found = shapeOf(snapshot)
    check(found['resource'] === uri, `a snapshot of ${uri}`, found)
    this.saw(Number(found['fromSeq']))
    return found
  }

  createSession(session: Uri, more: object): Promise<Shape> {
    return this.ask('createSession', { ...this.sessionParams(session), ...more })
  }

  /** The params that name a session. */
  sessionParams(session: Uri): object {
    return this.#wire.params('createSession', session)
  }

  /** The entries of the session list. */
  async listSessions(): Promise<readonly Shape[]> {
    const items: Shape[] = []
    let cursor: string | undefined
    for (let page = 0; page < mostPages; page++) {
      const result = await this.ask('listSessions', cursor === undefined ? {} : { cursor })
      items.push(...listOf(result, 'items').map(shapeOf))
      cursor = textOf(result, 'nextCursor')
      if (cursor === undefined || !this.has('0.5.1')) return items
    }
    throw new Failed(`a list that ends within ${mostPages} pages`, excerpt(cursor))
  }

  /**
   * The params of the received notifications about the session list. `name` is the method without its prefix:
   * `sessionAdded`, `sessionRemoved`.
   */
  listNotifications(name: string): readonly Shape[] {
    return this.notifications
      .map(({ method, params }) => this.#wire.notice(method, params))
      .filter(({ method }) => method === `root/${name}`)
      .map(({ params }) => params)
  }

  /** Dispatches an action. Returns its clientSeq, which its echo carries too. */
  dispatch(channel: Uri, action: Action): number {
    const clientSeq = ++this.#clientSeq
    this.notify('dispatchAction', this.#written(this.#wire.dispatch(channel, clientSeq, action)))
    return clientSeq
  }

  /** The action as it is sent. In 0.1 an action names the session itself. */
  addressed(channel: Uri, action: Action): Action {
    return this.#wire.addressed(channel, action)
  }

  /** Waits for the echo of a dispatched action, accepted or rejected. */
  outcome(clientSeq: number, type: string): Promise<Envelope> {
    const isEcho = ({ origin }: Envelope) =>
      origin?.clientId === this.clientId && origin.clientSeq === clientSeq
    return this.until(`the ${type} of ${this.version} back, accepted or rejected`, () =>
      this.envelopes.find(isEcho),
    )
  }

  async mustAccept(channel: Uri, action: Action): Promise<Envelope> {
    const echo = await this.outcome(this.dispatch(channel, action), action.type)
    check(!echo.rejectionReason, `${action.type} to be accepted`, echo.rejectionReason)
    return echo
  }

  /** The channel of an envelope. In 0.1 the action names it. */
  channelOf(envelope: Envelope): Uri | undefined {
    return this.#wire.channelOf(envelope)
  }

  /**
   * The type of an action about turns, in this version: up to 0.3 with the prefix `session/`, since 0.4 with `chat/`.
   */
  turnType(name: string): string {
    return this.#wire.turnType(name)
  }

  /** The members of an action that hold a message of the user. */
  message(text: string, more: Shape): object {
    return this.#wire.message(text, more)
  }

  /** Notes a number that came in another message than an envelope. */
  saw(serverSeq: number): void {
    this.#lastSeen = Math.max(this.#lastSeen, serverSeq)
  }

  /**
   * The params as they are sent. `Link` adds the root as the channel if they have none. In 0.1 no message has a
   * channel, so it is set to `undefined`, which JSON leaves out.
   */
  #written(params: object): object {
    return this.has('0.2.0') ? params : { ...params, channel: undefined }
  }
}
