import { changesetMarker } from '@atrium/protocol/changeset/catalogue'
import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { Audit } from '../simulate/checks/audit.ts'
import type { SentRequest } from '../simulate/checks/context.ts'
import type { ClientView } from '../simulate/checks/client-view.ts'
import { Link } from '../simulate/link.ts'
import { snapshotsIn } from '../message.ts'
import type { Message, Shown } from '../message.ts'
import type { SentMessage } from '../simulate/link.ts'
import type { Simulation } from '../simulate/simulation.ts'
import type { DispatchLedger } from './dispatch-ledger.ts'
import type { HandleChecks } from './handle-checks.ts'

/** The app that a link belongs to. */
interface Owner {
  readonly id: string
  readonly clientView: ClientView
  readonly ledger: DispatchLedger
  readonly handleChecks: HandleChecks
  /** Whether the app has a state of the channel. */
  has(uri: Uri): boolean
}

/** One link of a client. It carries frames, and checks each in both directions. */
export class Wire {
  readonly link: Link
  readonly transport: Transport
  readonly audit: Audit
  /** Channels requested over this link, and whether the host has agreed. */
  readonly subscriptions = new Map<Uri, 'requested' | 'active'>()
  readonly #sim: Simulation
  readonly #owner: Owner
  readonly #requests = new Map<number, SentRequest>()
  /**
   * Channels requested in the handshake. An answer with snapshots does not say which of them are missing. So the
   * client may unsubscribe, once, from a channel that it did not get.
   */
  readonly #inHandshake = new Set<Uri>()
  /** Subscribe requests whose channel the client left before the answer came. */
  readonly #left = new Set<SentRequest>()
  readonly #ending = new AbortController()
  /** Responses that are held back, so that the next message overtakes them. */
  readonly #overtaken: SentMessage[] = []
  #listener: ((frame: string) => void) | undefined

  constructor(sim: Simulation, owner: Owner) {
    this.#sim = sim
    this.#owner = owner
    this.audit = new Audit(sim, owner.id, owner.clientView, this.#requests)
    this.link = new Link(
      {
        sent: (message) => this.#onSent(message),
        received: (sent) => this.#onReceived(sent),
        ended: () => this.#ended(),
      },
      sim.plan.weight,
    )
    this.transport = {
      send: (frame) => this.#send(String(frame)),
      receive: (listener) => void (this.#listener = listener),
      close: () => {
        // The host learns of the end later. Until then, frames that were already sent may arrive.
        sim.halfOpen.add(this.link)
        this.link.endClient()
      },
      closed: this.#ending.signal,
      buffered: 0,
      drained: () => Promise.resolve(),
    }
  }

  /** Whether both sides still use the link. */
  get healthy(): boolean {
    return this.link.hostListens && !this.#ending.signal.aborted
  }

  #send(frame: string): void {
    const { id, ledger } = this.#owner
    this.#sim.trace(() => `${id} sends ${frame}`)
    const message = JSON.parse(frame) as Message
    const params = (message.params ?? {}) as SentRequest['params'] & { initialSubscriptions?: readonly Uri[] }
    const { channel = '' } = params
    if (message.id !== undefined && message.method !== undefined)
      this.#requests.set(message.id, { method: message.method, params })
    if (message.method === 'subscribe') this.#subscribed(channel)
    // A client may subscribe to a chat with a limited number of turns, only to learn whether the chat exists. From
    // then on the client may hold only the newest turns of the chat.
    const isChat = channel.startsWith('ahp-chat:') && !channel.includes(changesetMarker)
    if ('view' in params && isChat) this.#owner.clientView.windowed.add(channel)
    if (message.method === 'unsubscribe') this.#unsubscribed(channel)
    for (const uri of params.initialSubscriptions ?? params.subscriptions ?? []) {
      this.#subscribed(uri)
      this.#inHandshake.add(uri)
    }
    const blind = params.subscriptions?.find((uri) => !this.#owner.has(uri))
    if (blind !== undefined) this.#fail('U4', `asks for a replay of ${blind}, of which it has no state`)
    if (message.method === 'dispatchAction') {
      const { clientSeq, action } = params as unknown as { clientSeq: number; action: Action }
      ledger.sent(clientSeq, channel, action)
    }
    this.link.send(frame)
  }

  /**
   * Records that the client requests a channel. Checks U3: a client requests a channel once. It may request it again
   * only while one of its actions on the channel is unanswered.
   */
  #subscribed(uri: Uri): void {
    if (this.subscriptions.has(uri) && !this.#owner.ledger.waitsIn(uri))
      this.#fail('U3', `requests ${uri}, to which it is already subscribed`)
    this.subscriptions.set(uri, 'requested')
  }

  #unsubscribed(uri: Uri): void {
    const [subscribed, inHandshake] = [this.subscriptions.delete(uri), this.#inHandshake.delete(uri)]
    if (!subscribed && !inHandshake && !this.#owner.ledger.denied.has(uri))
      this.#fail('U3', `unsubscribes from ${uri}, to which it is not subscribed`)
    for (const request of this.#requests.values())
      if (request.method === 'subscribe' && request.params.channel === uri) this.#left.add(request)
    this.audit.unsubscribed(uri)
  }

  #onSent(message: Message): void {
    const { id, handleChecks, ledger } = this.#owner
    this.#sim.trace(() => `${id} is sent ${JSON.stringify(message)}`)
    const expected = this.audit.check(message)
    const request = message.id === undefined ? undefined : this.#requests.get(message.id)
    if (request && this.#left.has(request)) this.audit.unsubscribed(request.params.channel ?? '')
    for (const { resource, fromSeq } of snapshotsIn(shownIn(message)))
      handleChecks.expect(resource, fromSeq, this.#owner.clientView.expected(resource, fromSeq))
    for (const [at, envelope] of envelopesIn(message).entries()) {
      if (envelope.origin?.clientId === id) ledger.answerSent(envelope)
      const state = message.method === 'action' ? expected : (expected as readonly unknown[])[at]
      if (envelope.rejectionReason === undefined)
        handleChecks.expect(envelope.channel, envelope.serverSeq, state)
    }
  }

  #onReceived(said: SentMessage): void {
    const { method } = this.#requests.get(said.message.id ?? -1) ?? {}
    const late = this.#sim.plan.foreignHost && method === 'subscribe' && said.message.method === undefined
    if (late && this.#sim.name() % 2 === 0) this.#overtaken.push(said)
    else this.#deliver(said)
    if (!late) for (const waiting of this.#overtaken.splice(0)) this.#deliver(waiting)
  }

  #deliver({ message, text }: SentMessage): void {
    const { id, ledger } = this.#owner
    this.#sim.trace(() => `${id} receives ${text}`)
    for (const envelope of envelopesIn(message))
      if (envelope.origin?.clientId === id) {
        ledger.answerReceived(envelope)
        const { channel, serverSeq, action, rejectionReason } = envelope
        if (rejectionReason === undefined) this.#sim.accepted(channel, serverSeq, action)
      }
    const request = message.id === undefined ? undefined : this.#requests.get(message.id)
    if (request && message.method === undefined) this.#answer(request, message)
    // Makes the host look like a foreign host, which would apply a resent action twice.
    const foreignHost = this.#sim.plan.foreignHost && request?.method === 'initialize'
    this.#listener?.(foreignHost ? text.replace('"resends":true', '"resends":false') : text)
  }

  #answer(request: SentRequest, message: Message): void {
    const { method, params } = request
    const { missing = [], actions } = shownIn(message)
    const { ledger } = this.#owner
    for (const uri of missing) ledger.denied.add(uri)
    // A client asks for a page of turns to learn whether a chat exists. Only NotFound says that it does not.
    const absent = method === 'fetchTurns' && isAbsent(message.error)
    if ((method === 'subscribe' && message.error) || absent) {
      ledger.denied.add(params.channel ?? '')
      if (!this.#left.has(request)) this.subscriptions.delete(params.channel ?? '')
    }
    if (method !== 'initialize' && method !== 'reconnect') return
    const given = actions
      ? (params.subscriptions ?? []).filter((uri) => !missing.includes(uri))
      : snapshotsIn(shownIn(message)).map(({ resource }) => resource)
    this.subscriptions.clear()
    for (const uri of given) this.subscriptions.set(uri, 'active')
  }

  #ended(): void {
    this.#sim.trace(() => `${this.#owner.id} has no link`)
    this.#owner.ledger.cut()
    this.#ending.abort(new Error('cut'))
  }

  #fail(rule: string, problem: string): void {
    this.#sim.fail(rule, `${this.#owner.id} ${problem}`)
  }
}

function isAbsent(error: unknown): boolean {
  return (error as { readonly code?: number } | undefined)?.code === errorCodes.NotFound
}

/** The result of a response of our host: hence the cast. */
function shownIn({ result }: Message): Shown {
  return (result ?? {}) as Shown
}

function envelopesIn({ method, params, result }: Message): readonly Envelope[] {
  if (method === 'action') return [params as Envelope]
  return shownIn({ result }).actions ?? []
}
