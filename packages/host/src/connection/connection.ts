import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { Device } from '@atrium/protocol/root/device'
import { JsonResult, LinkClosed, Peer } from '@atrium/protocol/rpc/peer'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { View } from '../kernel/link.ts'
import { foreignClientId, withNaming } from '../kernel/clients.ts'
import type { Core } from '../kernel/core.ts'
import { sameIdentity } from '../kernel/link.ts'
import type { Identity } from '../kernel/link.ts'
import type { Channel } from '../kernel/log/channel.ts'
import type { Entry } from '../kernel/log/entry.ts'
import type { ClientLink } from './client-link.ts'
import { Dialect } from '../dialect/dialect.ts'
import { Intake } from './intake.ts'
import { Notifications } from './notifications.ts'
import { tooManySubscriptions } from './opening.ts'
import type { Opened } from './opening.ts'
import { peerTransport } from './peer-transport.ts'
import { Outbox } from './outbox.ts'
import { Requests } from './requests.ts'
import type { Resends } from './resends.ts'
import { Subscriptions } from './subscriptions.ts'
import type { LaneOwner } from './queues/lane.ts'
import type { SharedQueues } from './queues/unfinished-requests.ts'

/** The connection of one client. It passes messages on in both directions; the logic is in the objects that it consists of. */
export class Connection implements ClientLink {
  readonly principal: string
  readonly device: Device | undefined
  readonly dialect: Dialect
  readonly subscriptions: Subscriptions
  readonly outbox: Outbox
  readonly #core: Core
  readonly #transport: Transport
  readonly #intake: Intake
  readonly #peer: Peer
  readonly #requests: Requests
  readonly #queues: SharedQueues
  #clientId = ''
  #resends: Resends | undefined
  #listener: (frame: string) => void = () => {}
  #cancelHandshakeTimer = () => {}
  #ended = false

  constructor(core: Core, transport: Transport, { principal, device }: Identity, queues: SharedQueues) {
    this.#core = core
    this.#transport = transport
    this.principal = principal
    this.device = device
    this.dialect = new Dialect(core, () => this.#keepNames())
    this.subscriptions = new Subscriptions(core, this)
    this.outbox = new Outbox(transport, core.world, (entry) => this.dialect.frames(entry, this.#isOwn(entry)))
    this.outbox.latency = this.subscriptions.latency
    this.#intake = new Intake(core.world, core.limits, (code, reason) => this.close(code, reason))
    this.#requests = new Requests(core, this, this.#intake)
    this.#queues = queues
    this.#intake.lane = queues.fair.lane(this.#laneOwner())
    this.#startHandshakeTimer()
    transport.closed.addEventListener('abort', () => this.#end())
    const notifications = new Notifications(core, this, this.#intake)
    this.#peer = new Peer(
      peerTransport(transport, {
        send: (frame) => {
          this.#intake.charge(frame.length / responseDiscount)
          this.outbox.send(frame)
        },
        receive: (listener) => {
          this.#listener = listener
          transport.receive((frame) => this.#intake.lane?.arrive(frame))
        },
        close: (code = 1000, reason = '') => this.close(code, reason),
      }),
      {
        request: (method, params) => this.#requests.receive(method, params),
        notification: (method, params) => notifications.receive(method, params),
      },
      {
        limits: this.#intake,
        // It is no fault if a client disconnects before its response is sent.
        report: (problem) => problem instanceof LinkClosed || this.#intake.report('connection', problem),
      },
    )
  }

  get clientId(): string {
    return this.#clientId
  }

  get resends(): Resends | undefined {
    return this.#resends
  }

  get opened(): boolean {
    return this.subscriptions.record !== undefined
  }

  get ended(): boolean {
    return this.#ended
  }

  deliver(entry: Entry): void {
    this.subscriptions.seen = Math.max(this.subscriptions.seen, entry.seq)
    if (this.subscriptions.isOutdated(entry)) return
    if (this.dialect.needsRebuild(entry)) this.close(1013, noAction)
    else this.outbox.deliver(entry)
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
    if (!this.dialect.mayAsk(method)) return Promise.reject(AhpError.methodNotFound(method))
    return this.#peer.request(method, this.dialect.request(params))
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
    this.#end()
    this.#transport.close(code, reason)
  }

  /** Subscribes to a channel under the name that the client uses. Returns the snapshot, which the caller must send at once. */
  subscribe(channel: Channel, name: Uri, view: View = {}, latency?: number): string {
    for (const each of [channel, ...this.#awake(this.includedWith(channel.uri))]) {
      this.dialect.setAlias(each.uri, name)
      this.hold(each)
      this.subscriptions.sendSnapshot(each, { view, latency, leftOut: this.dialect.leftOut(each, view) })
    }
    this.outbox.latency = this.subscriptions.latency
    return this.dialect.snapshot(channel, view)
  }

  reaches(channel: Channel, name: Uri): boolean {
    return this.dialect.reaches(channel, name)
  }

  includedWith(uri: Uri): readonly Uri[] {
    return this.dialect.includedWith(uri)
  }

  follow(uri: Uri): boolean | AhpError {
    return this.subscriptions.follow(uri, this.dialect)
  }

  unsubscribe(uri: Uri): void {
    for (const each of [uri, ...this.includedWith(uri)]) this.subscriptions.unsubscribe(each)
    this.outbox.latency = this.subscriptions.latency
  }

  checkRoom(uri: Uri): void {
    if (!this.subscriptions.hasRoom(uri)) throw tooManySubscriptions(this.#core)
  }

  claim(clientId: string): void {
    this.#checkNotEnded()
    const older = this.#core.clients.links.get(clientId)
    if (older && !sameIdentity(older, this)) throw foreignClientId()
    older?.close(1001, 'this client has opened another connection')
    this.#core.clients.links.set(clientId, this)
    this.#clientId = clientId
    this.#core.parts.clientCame(this)
    // The client's older connections may have begun requests. Until these are finished, only the handshake is processed.
    const unfinished = this.#queues.unfinished.of(clientId)
    if (unfinished) void unfinished.then(this.#intake.hold())
  }

  hold(channel: Channel): void {
    this.#checkNotEnded()
    this.subscriptions.add(channel)
  }

  open({ record, resends, seen }: Opened): void {
    this.#checkNotEnded()
    this.#resends = resends
    this.subscriptions.seen = seen
    this.subscriptions.undelivered = new Set(
      this.#core.log.uncommittedOf(record.clientId).map(({ seq }) => seq),
    )
    this.#core.log.redirect(record.clientId, this)
    this.subscriptions.keep(record)
    this.#core.parts.linkOpened(this)
  }

  abandonHandshake(): void {
    this.#unclaim()
    this.subscriptions.clear()
    this.outbox.clear()
  }

  /** Returns a response. Every entry that is delivered from now on, and every request that is run, comes after the response. */
  answer(text: string): JsonResult {
    this.outbox.pause()
    this.subscriptions.seen = Math.max(this.subscriptions.seen, this.#core.log.committedSeq)
    const release = this.#intake.hold()
    return new JsonResult(text, () => {
      this.outbox.resume()
      release()
    })
  }

  #awake(uris: readonly Uri[]): readonly Channel[] {
    return uris.flatMap((uri) => this.#core.log.channel(uri) ?? [])
  }

  #keepNames(): void {
    const { record } = this.subscriptions
    if (record) this.subscriptions.keep(withNaming(record, this.dialect.names.naming))
  }

  #isOwn({ origin }: Entry): boolean {
    return origin?.clientId === this.#clientId
  }

  #checkNotEnded(): void {
    if (this.#ended) throw new LinkClosed('the connection has ended')
  }

  /**
   * Closes a connection whose client sends no handshake in time. A handshake that was received and waits for the disk gets
   * more time.
   */
  #startHandshakeTimer(): void {
    this.#cancelHandshakeTimer = this.#core.world.later(this.#core.limits.handshakeMs, () => {
      if (this.opened) return
      if (this.#claimed) this.#startHandshakeTimer()
      else this.close(1002, 'no handshake')
    })
  }

  #laneOwner(): LaneOwner {
    const intake = this.#intake
    const { pause, resume } = this.#transport
    return {
      principal: this.principal,
      process: (frame) => void (intake.admits(frame) && this.#listener(frame)),
      get busy() {
        return intake.busy
      },
      pause: pause?.bind(this.#transport),
      resume: resume?.bind(this.#transport),
      checkLine: (waiting) => intake.checkLine(waiting),
    }
  }

  #end(): void {
    const { unfinished } = this.#requests
    if (unfinished && this.opened) this.#queues.unfinished.add(this.#clientId, unfinished)
    this.#ended = true
    this.#cancelHandshakeTimer()
    this.#intake.end()
    this.#core.parts.linkEnded(this)
    this.subscriptions.clear()
    this.#unclaim()
  }

  /** Whether this is the newest connection on which the client has identified itself. */
  get #claimed(): boolean {
    return this.#core.clients.links.get(this.#clientId) === this
  }

  #unclaim(): void {
    if (!this.#claimed) return
    this.#core.clients.links.delete(this.#clientId)
    this.#core.clients.leave(this.#clientId)
    this.#core.parts.clientLeft(this)
  }
}

/**
 * The cost of a response, which counts for the fair queue, is its length in characters divided by this number. A
 * request of the same length costs more, because it is parsed and checked.
 */
const responseDiscount = 32

const noAction = 'the AHP version of this connection has no action for the last change; reconnect'
