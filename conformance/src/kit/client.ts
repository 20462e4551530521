import { randomUUID } from 'node:crypto'
import { Snapshot } from '@atrium/protocol/channel'
import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import { commands } from '@atrium/protocol/commands'
import type { Method, Result } from '@atrium/protocol/commands'
import type { WireError } from '@atrium/protocol/rpc/shapes'
import { Failed, check, checkShape, excerpt, same } from './check.ts'
import { Link } from './link.ts'
import type { Answer, Login, Notification, Target } from './link.ts'

/** A connection that speaks AHP. It checks the shape of every result. */
export class Client extends Link {
  readonly clientId: string
  readonly version: string
  readonly #logins: readonly Login[]
  #clientSeq = 0

  constructor(target: Target, version: string, clientId = `conformance-${randomUUID()}`) {
    super(target)
    this.version = version
    this.#logins = target.logins ?? []
    this.clientId = clientId
  }

  /** Sends a request that must be answered with a result. */
  async mustSucceed<M extends Method>(method: M, params: object = {}): Promise<Result<M>> {
    return resultOf(method, await this.request(method, params))
  }

  /**
   * Sends a request that must be answered with an error. The code must be one of `codes`; without `codes`, any code is
   * correct.
   */
  async mustFail(method: string, params: object, ...codes: readonly number[]): Promise<WireError> {
    return errorOf(method, await this.request(method, params), codes)
  }

  /**
   * Sends `initialize` and the logins; `more` is added to the params of `initialize`. The shape of the result is not
   * checked, because every rule begins with this call and only K10 judges that shape.
   */
  async initialize(more: object = {}): Promise<Partial<Result<'initialize'>>> {
    const params = { protocolVersions: [this.version], clientId: this.clientId, ...more }
    const answer = await this.request('initialize', params)
    if ('error' in answer) throw new Failed('a result of initialize', `error ${excerpt(answer.error)}`)
    for (const login of this.#logins) await this.mustSucceed('authenticate', login)
    return answer.result ?? {}
  }

  async reconnect(lastSeenServerSeq: number, subscriptions: readonly Uri[]): Promise<Result<'reconnect'>> {
    return this.mustSucceed('reconnect', { clientId: this.clientId, lastSeenServerSeq, subscriptions })
  }

  async subscribe(channel: Uri, more: object = {}): Promise<Snapshot> {
    const { snapshot } = await this.mustSucceed('subscribe', { channel, ...more })
    const found = checkShape(`a snapshot of ${channel}`, Snapshot, snapshot)
    check(found.resource === channel, `a snapshot of ${channel}`, found)
    return found
  }

  /** Dispatches an action. Returns its clientSeq, which its echo carries too. */
  dispatch(channel: Uri, action: Action): number {
    const clientSeq = ++this.#clientSeq
    this.notify('dispatchAction', { channel, clientSeq, action })
    return clientSeq
  }

  /** Waits for the echo of a dispatched action, accepted or rejected. */
  outcome(clientSeq: number): Promise<Envelope> {
    return this.until(`the action with clientSeq ${clientSeq} back, accepted or rejected`, () =>
      this.outcomes(clientSeq).at(0),
    )
  }

  outcomes(clientSeq: number): readonly Envelope[] {
    return this.envelopes.filter(
      ({ origin }) => origin?.clientId === this.clientId && origin.clientSeq === clientSeq,
    )
  }

  /** Dispatches an action that must be accepted, and waits for its echo. */
  async mustAccept(channel: Uri, action: Action): Promise<Envelope> {
    const echo = await this.outcome(this.dispatch(channel, action))
    check(!echo.rejectionReason, `${action.type} to be accepted`, echo)
    return echo
  }

  /** Dispatches an action that must be rejected, and waits for the rejection. */
  async mustReject(channel: Uri, action: Action): Promise<void> {
    const outcome = await this.outcome(this.dispatch(channel, action))
    check(
      typeof outcome.rejectionReason === 'string',
      `${action.type} to come back with a rejectionReason`,
      outcome,
    )
    same('its channel', channel, outcome.channel)
  }

  /** Gives a session a new, unique title and waits for the echo. */
  retitle(channel: Uri): Promise<Envelope> {
    return this.mustAccept(channel, titleChanged(`conformance ${randomUUID()}`))
  }

  /** Waits until this client has received the envelope as well. */
  receives({ channel, serverSeq }: Envelope): Promise<Envelope> {
    return this.until(`the envelope ${serverSeq} of ${channel}`, () =>
      this.envelopes.find((envelope) => envelope.channel === channel && envelope.serverSeq === serverSeq),
    )
  }

  receivesNotification(
    method: string,
    matches: (params: Notification['params']) => boolean,
  ): Promise<Notification> {
    return this.until(`the notification ${method}`, () =>
      this.notifications.find(
        (notification) => notification.method === method && matches(notification.params),
      ),
    )
  }

  /** The envelopes that arrived before the newest response. */
  envelopesBeforeResponse(): readonly Envelope[] {
    const frames = this.frames as readonly { readonly method?: string; readonly params?: Envelope }[]
    const response = frames.findLastIndex(({ method }) => method === undefined)
    return frames.slice(0, response).flatMap(({ method, params }) => (method === 'action' && params) || [])
  }

  /** The sequence numbers of the envelopes of a channel, in the order of arrival. */
  seqsOf(channel: Uri): readonly number[] {
    return this.envelopes.filter((envelope) => envelope.channel === channel).map(({ serverSeq }) => serverSeq)
  }
}

/** The action that sets a title. A title that is not a string makes the action invalid. */
export function titleChanged(title: unknown): Action & { readonly title: unknown } {
  return { type: 'session/titleChanged', title }
}

export function resultOf<M extends Method>(method: M, answer: Answer): Result<M> {
  if ('error' in answer) throw new Failed(`a result of ${method}`, `error ${excerpt(answer.error)}`)
  const schema = commands.get(method)?.result
  // The cast is needed because the type of the table `commands` does not tell the result of each method.
  return (schema ? checkShape(`the result of ${method}`, schema, answer.result) : answer.result) as Result<M>
}

export function errorOf(method: string, answer: Answer, codes: readonly number[]): WireError {
  const expected = `${method} to be refused${codes.length > 0 ? ` with ${codes.join(' or ')}` : ''}`
  if (!('error' in answer)) throw new Failed(expected, `the result ${excerpt(answer.result)}`)
  check(codes.length === 0 || codes.includes(answer.error.code), expected, answer.error)
  return answer.error
}
