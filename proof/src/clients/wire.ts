import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { Audit } from '../simulate/audit.ts'
import type { Question } from '../simulate/audit.ts'
import type { Eye } from '../simulate/eye.ts'
import { Link } from '../simulate/link.ts'
import type { Message, Said } from '../simulate/link.ts'
import type { Simulation } from '../simulate/simulation.ts'
import type { Account } from './account.ts'
import type { Sights } from './sights.ts'

/** Whose link it is. */
interface Owner {
  readonly id: string
  readonly eye: Eye
  readonly account: Account
  readonly sights: Sights
  /** It has a state of that. */
  has(uri: Uri): boolean
}

/** One link of a client: it carries frames, and looks at each in both directions. */
export class Wire {
  readonly link: Link
  readonly transport: Transport
  readonly audit: Audit
  /** What the host was asked to tell over this link, and whether it has agreed. */
  readonly follows = new Map<Uri, 'asked' | 'told'>()
  readonly #sim: Simulation
  readonly #owner: Owner
  readonly #asked = new Map<number, Question>()
  /** Asked for in the greeting: an answer with snapshots does not say which of them are not there, so they may be left once. */
  readonly #greeted = new Set<Uri>()
  /** Subscriptions that were left before they were answered. */
  readonly #left = new Set<Question>()
  readonly #ending = new AbortController()
  /** Answers that the next message overtakes. */
  readonly #overtaken: Said[] = []
  #listener: ((frame: string) => void) | undefined

  constructor(sim: Simulation, owner: Owner) {
    this.#sim = sim
    this.#owner = owner
    this.audit = new Audit(sim, owner.id, owner.eye, this.#asked)
    this.link = new Link(
      {
        said: (message) => this.#said(message),
        heard: (said) => this.#heard(said),
        ended: () => this.#ended(),
      },
      sim.plan.weight,
    )
    this.transport = {
      send: (frame) => this.#send(String(frame)),
      receive: (listener) => void (this.#listener = listener),
      close: () => {
        // What it has said may still arrive; the host learns later that it has gone.
        sim.late.add(this.link)
        this.link.endClient()
      },
      closed: this.#ending.signal,
      buffered: 0,
      drained: () => Promise.resolve(),
    }
  }

  /** The host still listens, and nobody has noticed anything else. */
  get sound(): boolean {
    return this.link.hears && !this.#ending.signal.aborted
  }

  #send(frame: string): void {
    const { id, account } = this.#owner
    this.#sim.trace(() => `${id} sends ${frame}`)
    const message = JSON.parse(frame) as Message
    const params = (message.params ?? {}) as Question['params'] & { initialSubscriptions?: readonly Uri[] }
    const { channel = '' } = params
    if (message.id !== undefined && message.method !== undefined)
      this.#asked.set(message.id, { method: message.method, params })
    if (message.method === 'subscribe') this.#follow(channel)
    // Also a client that only asks whether a chat is there asks for a part of it.
    if ('view' in params && channel.startsWith('ahp-chat:')) this.#owner.eye.narrow.add(channel)
    if (message.method === 'unsubscribe') this.#leave(channel)
    for (const uri of params.initialSubscriptions ?? params.subscriptions ?? []) {
      this.#follow(uri)
      this.#greeted.add(uri)
    }
    const blind = params.subscriptions?.find((uri) => !this.#owner.has(uri))
    if (blind !== undefined) this.#fail('U4', `wants a replay of ${blind}, of which it has no state`)
    if (message.method === 'dispatchAction') {
      const { clientSeq, action } = params as unknown as { clientSeq: number; action: Action }
      account.sent(clientSeq, channel, action)
    }
    this.link.send(frame)
  }

  /** U3. */
  #follow(uri: Uri): void {
    // What is not answered for long is asked after.
    if (this.follows.has(uri) && !this.#owner.account.waitsIn(uri))
      this.#fail('U3', `asks for ${uri}, which it follows`)
    this.follows.set(uri, 'asked')
  }

  #leave(uri: Uri): void {
    const [followed, greeted] = [this.follows.delete(uri), this.#greeted.delete(uri)]
    if (!followed && !greeted && !this.#owner.account.denied.has(uri))
      this.#fail('U3', `leaves ${uri}, which it does not follow`)
    for (const question of this.#asked.values())
      if (question.method === 'subscribe' && question.params.channel === uri) this.#left.add(question)
    this.audit.left(uri)
  }

  #said(message: Message): void {
    const { id, sights, account } = this.#owner
    this.#sim.trace(() => `${id} is told ${JSON.stringify(message)}`)
    const truth = this.audit.said(message)
    const question = message.id === undefined ? undefined : this.#asked.get(message.id)
    if (question && this.#left.has(question)) this.audit.left(question.params.channel ?? '')
    for (const { resource, fromSeq } of snapshotsIn(message))
      sights.note(resource, fromSeq, this.#sim.truth.stateAt(resource, fromSeq))
    for (const [at, envelope] of envelopesIn(message).entries()) {
      if (envelope.origin?.clientId === id) account.said(envelope)
      const state = message.method === 'action' ? truth : (truth as readonly unknown[])[at]
      if (envelope.rejectionReason === undefined) sights.note(envelope.channel, envelope.serverSeq, state)
    }
  }

  #heard(said: Said): void {
    const { method } = this.#asked.get(said.message.id ?? -1) ?? {}
    const late = this.#sim.plan.bare && method === 'subscribe' && said.message.method === undefined
    if (late && this.#sim.name() % 2 === 0) this.#overtaken.push(said)
    else this.#hear(said)
    if (!late) for (const waiting of this.#overtaken.splice(0)) this.#hear(waiting)
  }

  #hear({ message, text }: Said): void {
    const { id, account } = this.#owner
    this.#sim.trace(() => `${id} hears ${text}`)
    for (const envelope of envelopesIn(message)) if (envelope.origin?.clientId === id) account.heard(envelope)
    const question = message.id === undefined ? undefined : this.#asked.get(message.id)
    if (question && message.method === undefined) this.#answer(question, message)
    // A host of others, that would take twice what is sent twice.
    const bare = this.#sim.plan.bare && question?.method === 'initialize'
    this.#listener?.(bare ? text.replace('"resends":true', '"resends":false') : text)
  }

  #answer(question: Question, message: Message): void {
    const { method, params } = question
    const { missing = [], actions } = (message.result ?? {}) as {
      missing?: readonly Uri[]
      actions?: unknown
    }
    const { account } = this.#owner
    for (const uri of missing) account.denied.add(uri)
    // A chat is asked after by a page of it, and may be there without having that.
    const absent = method === 'fetchTurns' && isAbsent(message.error)
    if ((method === 'subscribe' && message.error) || absent) {
      account.denied.add(params.channel ?? '')
      if (!this.#left.has(question)) this.follows.delete(params.channel ?? '')
    }
    if (method !== 'initialize' && method !== 'reconnect') return
    const given = actions
      ? (params.subscriptions ?? []).filter((uri) => !missing.includes(uri))
      : snapshotsIn(message).map(({ resource }) => resource)
    this.follows.clear()
    for (const uri of given) this.follows.set(uri, 'told')
  }

  #ended(): void {
    this.#sim.trace(() => `${this.#owner.id} has no link`)
    this.#owner.account.cut()
    this.#ending.abort(new Error('cut'))
  }

  #fail(rule: string, problem: string): void {
    this.#sim.fail(rule, `${this.#owner.id} ${problem}`)
  }
}

function isAbsent(error: unknown): boolean {
  return (error as { readonly code?: number } | undefined)?.code === errorCodes.NotFound
}

function snapshotsIn({ result }: Message): readonly Snapshot[] {
  const { snapshot, snapshots } = (result ?? {}) as { snapshot?: Snapshot; snapshots?: readonly Snapshot[] }
  return snapshots ?? (snapshot ? [snapshot] : [])
}

function envelopesIn({ method, params, result }: Message): readonly Envelope[] {
  if (method === 'action') return [params as Envelope]
  return ((result ?? {}) as { actions?: readonly Envelope[] }).actions ?? []
}
