import { randomUUID } from 'node:crypto'
import { Snapshot } from '@atrium/protocol/channel'
import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import { commands } from '@atrium/protocol/commands'
import type { Method, Result } from '@atrium/protocol/commands'
import type { WireError } from '@atrium/protocol/rpc/shapes'
import { Failed, check, fits, same, shown } from './check.ts'
import { Link } from './link.ts'
import type { Answer, Note, Target } from './link.ts'

/** A link that speaks AHP. It believes nothing: whatever is answered must have its shape. */
export class Client extends Link {
  readonly clientId: string
  readonly version: string
  #clientSeq = 0

  constructor(target: Target, version: string, clientId = `conformance-${randomUUID()}`) {
    super(target)
    this.version = version
    this.clientId = clientId
  }

  /** Asks for what has to be answered with a result. */
  async must<M extends Method>(method: M, params: object = {}): Promise<Result<M>> {
    return resultOf(method, await this.ask(method, params))
  }

  /** Asks for what has to be refused with one of these codes; with any, where none is named. */
  async refused(method: string, params: object, ...codes: readonly number[]): Promise<WireError> {
    return refusalOf(method, await this.ask(method, params), codes)
  }

  /** Opens the link; `more` goes into the params. Every rule begins here, so the shape is the concern of one only. */
  async initialize(more: object = {}): Promise<Partial<Result<'initialize'>>> {
    const params = { protocolVersions: [this.version], clientId: this.clientId, ...more }
    const answer = await this.ask('initialize', params)
    if ('error' in answer) throw new Failed('a result of initialize', `error ${shown(answer.error)}`)
    return (answer.result ?? {}) as Partial<Result<'initialize'>>
  }

  async reconnect(lastSeenServerSeq: number, subscriptions: readonly Uri[]): Promise<Result<'reconnect'>> {
    return this.must('reconnect', { clientId: this.clientId, lastSeenServerSeq, subscriptions })
  }

  async subscribe(channel: Uri, more: object = {}): Promise<Snapshot> {
    const { snapshot } = await this.must('subscribe', { channel, ...more })
    const found = fits(`a snapshot of ${channel}`, Snapshot, snapshot)
    check(found.resource === channel, `a snapshot of ${channel}`, found)
    return found
  }

  /** Gives the number that its echo will carry. */
  dispatch(channel: Uri, action: Action): number {
    const clientSeq = ++this.#clientSeq
    this.notify('dispatchAction', { channel, clientSeq, action })
    return clientSeq
  }

  /** What became of a dispatch: the accepted action, or the refusal. */
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

  /** Dispatches what has to be accepted, and waits for its echo. */
  async change(channel: Uri, action: Action): Promise<Envelope> {
    const echo = await this.outcome(this.dispatch(channel, action))
    check(!echo.rejectionReason, `${action.type} to be accepted`, echo)
    return echo
  }

  /** Dispatches what has to be rejected, and waits for that. */
  async rejected(channel: Uri, action: Action): Promise<void> {
    const outcome = await this.outcome(this.dispatch(channel, action))
    check(
      typeof outcome.rejectionReason === 'string',
      `${action.type} to come back with a rejectionReason`,
      outcome,
    )
    same('its channel', channel, outcome.channel)
  }

  /** Gives a session a title that no session had before: nothing has to be waited for but this. */
  retitle(channel: Uri): Promise<Envelope> {
    return this.change(channel, titled(`conformance ${randomUUID()}`))
  }

  /** Waits until this client, too, has been told. */
  hears({ channel, serverSeq }: Envelope): Promise<Envelope> {
    return this.until(`the envelope ${serverSeq} of ${channel}`, () =>
      this.envelopes.find((envelope) => envelope.channel === channel && envelope.serverSeq === serverSeq),
    )
  }

  hearsNote(method: string, wanted: (params: Note['params']) => boolean): Promise<Note> {
    return this.until(`the notification ${method}`, () =>
      this.notes.find((note) => note.method === method && wanted(note.params)),
    )
  }

  /** The envelopes that came before the newest answer. */
  toldBeforeAnswer(): readonly Envelope[] {
    const frames = this.frames as readonly { readonly method?: string; readonly params?: Envelope }[]
    const answer = frames.findLastIndex(({ method }) => method === undefined)
    return frames.slice(0, answer).flatMap(({ method, params }) => (method === 'action' && params) || [])
  }

  /** The numbers of what came of a channel, in the order it came. */
  seqsOf(channel: Uri): readonly number[] {
    return this.envelopes.filter((envelope) => envelope.channel === channel).map(({ serverSeq }) => serverSeq)
  }
}

export function titled(title: unknown): Action & { readonly title: unknown } {
  return { type: 'session/titleChanged', title }
}

export function resultOf<M extends Method>(method: M, answer: Answer): Result<M> {
  if ('error' in answer) throw new Failed(`a result of ${method}`, `error ${shown(answer.error)}`)
  const schema = commands.get(method)?.result
  return (schema ? fits(`the result of ${method}`, schema, answer.result) : answer.result) as Result<M>
}

export function refusalOf(method: string, answer: Answer, codes: readonly number[]): WireError {
  const expected = `${method} to be refused${codes.length > 0 ? ` with ${codes.join(' or ')}` : ''}`
  if (!('error' in answer)) throw new Failed(expected, `the result ${shown(answer.result)}`)
  check(codes.length === 0 || codes.includes(answer.error.code), expected, answer.error)
  return answer.error
}
