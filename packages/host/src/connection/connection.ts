import type { Action, Uri } from '@atrium/protocol/channel'
import { commands, notifications } from '@atrium/protocol/commands'
import type { NotificationParams, Params } from '@atrium/protocol/commands'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { checkAction } from '@atrium/protocol/kind'
import { hasLossyNumber } from '@atrium/protocol/rpc/frame-check'
import { JsonResult, LinkClosed, Peer } from '@atrium/protocol/rpc/peer'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { decode, id } from '@atrium/protocol/schema'
import type { Decoded, Schema } from '@atrium/protocol/schema'
import type { Channel } from '../log/channel.ts'
import { foreignClientId } from '../core/clients.ts'
import { hostCommands } from './commands.ts'
import type { Subscriber } from './commands.ts'
import type { Core } from '../core/core.ts'
import { Dialect } from './dialect.ts'
import { dispatch } from '../dispatch/dispatch.ts'
import type { Entry } from '../log/entry.ts'
import { Subscriptions } from './subscriptions.ts'
import { answerInitialize, answerReconnect } from './greeting.ts'
import type { OpeningLink } from './greeting.ts'
import { tooManySubscriptions } from './handshake.ts'
import type { Opened } from './handshake.ts'
import { Intake } from './intake.ts'
import { Outbox } from './outbox.ts'
import { asleepFor, wakeFor } from '../turn/pin.ts'
import type { Resends } from './resends.ts'
import type { View } from '../channels/snapshot.ts'
import { damageOf, wakeIfSound } from '../channels/wake.ts'

/** One client: handshake, subscriptions, forwarding. Forwarding only. */
export class Connection implements Subscriber, OpeningLink {
  readonly principal: string
  readonly dialect: Dialect
  readonly subscriptions: Subscriptions
  readonly outbox: Outbox
  readonly #core: Core
  readonly #transport: Transport
  readonly #intake: Intake
  readonly #peer: Peer
  #clientId = ''
  #resends: Resends | undefined
  #undoExpecting = () => {}
  /** The link has ended, or another has taken its place: what it had begun comes to nothing. */
  #ended = false

  constructor(core: Core, transport: Transport, principal: string) {
    this.#core = core
    this.#transport = transport
    this.principal = principal
    this.dialect = new Dialect(core)
    this.subscriptions = new Subscriptions(core, this)
    this.outbox = new Outbox(transport, core.world, (entry) => this.dialect.frames(entry, this.#isOwn(entry)))
    this.outbox.latency = this.subscriptions.latency
    this.#intake = new Intake(core.world, core.limits, (code, reason) => this.close(code, reason))
    this.#expectHandshake()
    transport.closed.addEventListener('abort', () => this.#leave())
    this.#peer = new Peer(
      this.#ends(),
      {
        request: (method, params) => this.#request(method, params),
        notification: (method, params) => this.#notification(method, params),
      },
      {
        limits: this.#intake,
        // Who has gone while being answered is no problem.
        report: (problem) => problem instanceof LinkClosed || this.#intake.report('connection', problem),
      },
    )
  }

  get clientId(): string {
    return this.#clientId
  }

  deliver(entry: Entry): void {
    this.subscriptions.seen = Math.max(this.subscriptions.seen, entry.seq)
    if (!this.subscriptions.isOutdated(entry)) this.outbox.deliver(entry)
  }

  get wantsEach(): boolean {
    return this.outbox.latency === 0
  }

  get slow(): boolean {
    return this.outbox.slow
  }

  drained(): Promise<void> {
    return this.#transport.drained()
  }

  ask(method: string, params: object): Promise<unknown> {
    return this.#peer.request(method, params)
  }

  notify(method: string, params: object): void {
    const frame = this.dialect.notification(method, params)
    if (frame !== undefined) this.outbox.notify(frame)
  }

  missingRows(uri: Uri): number {
    const channel = this.subscriptions.find(uri)
    return channel ? this.subscriptions.missingRows(channel) : 0
  }

  rowsSent(uri: Uri, older: number): void {
    const channel = this.subscriptions.find(uri)
    if (channel) this.subscriptions.extend(channel, older)
  }

  close(code: number, reason: string): void {
    this.#leave()
    this.#transport.close(code, reason)
  }

  /** A channel whose snapshot is about to be sent: from now on this link is told what happens there. */
  subscribe(channel: Channel, name: Uri, view: View = {}, latency?: number): string {
    this.hold(channel)
    this.dialect.setAlias(channel.uri, name)
    this.subscriptions.sendSnapshot(channel, { view, latency, leftOut: this.dialect.leftOut(channel, view) })
    this.outbox.latency = this.subscriptions.latency
    return this.dialect.snapshot(channel, view)
  }

  checkRoom(uri: Uri): void {
    if (!this.subscriptions.hasRoom(uri)) throw tooManySubscriptions(this.#core)
  }

  claim(clientId: string): void {
    if (this.#ended) throw new LinkClosed('the link has ended')
    const older = this.#core.links.get(clientId)
    if (older && older.principal !== this.principal) throw foreignClientId()
    older?.close(1001, 'this client has opened another link')
    this.#core.links.set(clientId, this)
    this.#core.tokens.linkOpened(this.principal)
    this.#core.departures.returned(clientId)
    this.#clientId = clientId
  }

  hold(channel: Channel): void {
    if (this.#ended) throw new LinkClosed('the link has ended')
    this.subscriptions.add(channel)
  }

  open({ record, resends, seen }: Opened): void {
    if (this.#ended) throw new LinkClosed('the link has ended')
    this.#resends = resends
    this.subscriptions.seen = seen
    this.subscriptions.undelivered = new Set(
      this.#core.log.uncommittedOf(record.clientId).map(({ seq }) => seq),
    )
    this.#core.log.redirect(record.clientId, this)
    this.subscriptions.keep(record)
  }

  /** An answer that stands before everything told, and everything asked, from this moment on. */
  answer(text: string): JsonResult {
    this.outbox.pause()
    this.subscriptions.seen = Math.max(this.subscriptions.seen, this.#core.log.committedSeq)
    const go = this.#intake.hold()
    return new JsonResult(text, () => {
      this.outbox.resume()
      go()
    })
  }

  get #opened(): boolean {
    return this.subscriptions.record !== undefined
  }

  #isOwn({ origin }: Entry): boolean {
    return origin?.clientId === this.#clientId
  }

  /** Who does not say who it is in time is let go. Who has said so waits for our disk, and not we for it. */
  #expectHandshake(): void {
    this.#undoExpecting = this.#core.world.later(this.#core.limits.handshakeMs, () => {
      if (this.#opened) return
      if (this.#claimed) this.#expectHandshake()
      else this.close(1002, 'no handshake')
    })
  }

  #request(method: string, params: unknown): unknown {
    if (method === 'ping') return this.#intake.ping()
    const command = commands.get(method)
    if (!command || !this.dialect.knows(method)) throw AhpError.methodNotFound(method)
    if (isOpening(method)) this.#intake.greeted = true
    return this.#intake.ask(() => this.#run(method, command.params, params))
  }

  /** When its turn has come: what was asked before may have opened the link. */
  #run(method: string, schema: Schema<unknown>, given: unknown): unknown {
    if (this.#ended) throw new LinkClosed('the link has ended')
    const opening = isOpening(method)
    if (opening === this.#opened)
      throw AhpError.invalidRequest(
        opening ? 'this link has been opened already' : 'initialize or reconnect comes first',
      )
    const run = hostCommands.get(method)
    if (!run && !opening) throw AhpError.methodNotFound(method)
    const decoded = checkParams(schema, given)
    if (!decoded.ok) throw AhpError.invalidParams(`${method}: ${decoded.problem}`)
    if (method === 'initialize')
      return this.#greeted(() => answerInitialize(this.#core, this, decoded.value as Params<'initialize'>))
    if (method === 'reconnect')
      return this.#greeted(() => answerReconnect(this.#core, this, decoded.value as Params<'reconnect'>))
    const params = this.dialect.params(method, decoded.value)
    const outcome = run?.(this.#core, this, params, nameOf(decoded.value))
    return outcome instanceof Promise
      ? outcome.then((result: unknown) => this.dialect.result(method, result))
      : this.dialect.result(method, outcome)
  }

  #notification(method: string, params: unknown): unknown {
    const note = notifications.get(method)
    if (note?.from !== 'client') return undefined
    return this.#intake.say((reason) => {
      // What comes late over a link that has ended is nobody's.
      if (!this.#opened || this.#ended) return undefined
      const decoded = checkParams(note.params, params)
      if (!decoded.ok) return this.#malformed(method, params, decoded.problem)
      const { channel } = decoded.value as NotificationParams<'unsubscribe'>
      if (method === 'unsubscribe') return this.#unfollow(this.dialect.canonicalUri(channel))
      return this.#dispatch(decoded.value as NotificationParams<'dispatchAction'>, reason)
    })
  }

  #unfollow(uri: Uri): void {
    this.subscriptions.leave(uri)
    this.outbox.latency = this.subscriptions.latency
  }

  /** What is said of a channel that nobody has is ignored; what sleeps is woken first. */
  #dispatch(params: NotificationParams<'dispatchAction'>, reason: string | undefined): void | Promise<void> {
    const { log } = this.#core
    const uri = this.dialect.canonicalUri(params.channel)
    // What it has subscribed to is called as it was there.
    if (uri !== params.channel && !this.subscriptions.find(uri)) this.dialect.setAlias(uri, params.channel)
    const channel = log.channel(uri)
    const ready = channel && missingTurn(channel, params.action) === undefined
    if (ready && !log.congested && asleepFor(this.#core, params.action).length === 0)
      return this.#apply(channel, params, reason)
    return log.room().then(() => this.#applyAwake(uri, params, reason))
  }

  async #applyAwake(
    uri: Uri,
    params: NotificationParams<'dispatchAction'>,
    reason: string | undefined,
  ): Promise<void> {
    if (reason === undefined) await wakeFor(this.#core, params.action)
    // It may fall asleep again while its turns are read.
    for (;;) {
      const channel = await wakeIfSound(this.#core, uri)
      if (!channel || this.#ended) return
      const missing = reason === undefined ? missingTurn(channel, params.action) : undefined
      if (missing === undefined) return this.#apply(channel, params, reason)
      const damage = await damageOf(this.#core, () => this.#core.log.loadRows(channel, missing))
      if (damage !== undefined) return this.#apply(channel, params, damage)
    }
  }

  #apply(channel: Channel, params: NotificationParams<'dispatchAction'>, reason: string | undefined): void {
    const { clientSeq } = params
    if (reason !== undefined) return this.#refuse(channel, clientSeq, params.action, reason)
    const action = this.dialect.fromClient(channel, params.action)
    const checked = checkAction(channel.kind, action)
    const again = checked.ok ? this.#resends?.match(channel.uri, clientSeq, checked.value) : undefined
    if (again === undefined) return void dispatch(this.#core, this, channel, clientSeq, action)
    if (this.subscriptions.isDeliveredTo(channel, again)) return
    this.#refuse(channel, clientSeq, action, `already accepted as ${again}`)
  }

  /** Refused where it can be told which wish it was, like any other; else only reported. */
  #malformed(method: string, params: unknown, problem: string): void | Promise<void> {
    const {
      channel,
      clientSeq = -1,
      action,
    } = (params ?? {}) as Partial<NotificationParams<'dispatchAction'>>
    const named = decode(id, channel).ok && Number.isSafeInteger(clientSeq) && clientSeq >= 0
    if (named && typeof action?.type === 'string')
      return this.#dispatch(params as NotificationParams<'dispatchAction'>, problem)
    this.#intake.report('malformed notification', `${method}: ${problem}`)
  }

  #refuse(channel: Channel, clientSeq: number, action: Action, reason: string): void {
    const by = { clientId: this.clientId, clientSeq, principal: this.principal }
    this.#core.log.refuse(channel, action, { by, listener: this }, reason)
  }

  /** A handshake: what is heard meanwhile waits behind its answer, and a failure leaves nothing behind. */
  async #greeted(greeting: () => Promise<string>): Promise<JsonResult> {
    this.outbox.pause()
    try {
      return this.answer(await greeting())
    } catch (error) {
      this.#unclaim()
      this.subscriptions.clear()
      this.outbox.clear()
      // Behind the answer that says so.
      if (error instanceof AhpError && error.code === errorCodes.UnsupportedProtocolVersion)
        this.#core.world.later(0, () => this.close(1002, 'no common protocol version'))
      throw error
    } finally {
      this.outbox.resume()
    }
  }

  /** The transport as JSON-RPC sees it: frames come in counted, answers go out behind what was told before them. */
  #ends(): Transport {
    const transport = this.#transport
    return {
      send: (frame) => this.outbox.send(frame),
      receive: (listener) => transport.receive((frame) => this.#intake.admits(frame) && listener(frame)),
      close: (code = 1000, reason = '') => this.close(code, reason),
      drained: () => transport.drained(),
      closed: transport.closed,
      get buffered() {
        return transport.buffered
      },
    }
  }

  #leave(): void {
    this.#ended = true
    this.#undoExpecting()
    this.#intake.end()
    this.subscriptions.clear()
    this.#unclaim()
  }

  /** It has said who it is, and no newer link has. */
  get #claimed(): boolean {
    return this.#core.links.get(this.#clientId) === this
  }

  #unclaim(): void {
    if (!this.#claimed) return
    this.#core.links.delete(this.#clientId)
    this.#core.tokens.linkClosed(this.principal)
    this.#core.clients.leave(this.#clientId)
    this.#core.departures.departed(this.#clientId)
  }
}

/** The name of a channel as its client wrote it. */
function nameOf(params: unknown): Uri {
  return (params as { channel?: Uri }).channel ?? ''
}

/** The turn that it names, where that is not in memory. */
function missingTurn(channel: Channel, { type, turnId }: Action & { turnId?: unknown }): string | undefined {
  const named = type === 'chat/truncated' && typeof turnId === 'string' ? turnId : undefined
  return named !== undefined && channel.missing(named).length > 0 ? named : undefined
}

/** Its shape, and that it can be kept as it is (S-19). */
function checkParams(schema: Schema<unknown>, given: unknown): Decoded<unknown> {
  if (hasLossyNumber(given)) return { ok: false, problem: 'a number that JSON cannot keep: too large, or -0' }
  return decode(schema, given ?? {})
}

function isOpening(method: string): boolean {
  return method === 'initialize' || method === 'reconnect'
}
