import type { Uri } from '@atrium/protocol/channel'
import { commands, notes } from '@atrium/protocol/commands'
import type { NoteParams, Params } from '@atrium/protocol/commands'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { checkAction } from '@atrium/protocol/kind'
import { JsonResult, LinkClosed, Peer } from '@atrium/protocol/rpc/peer'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { decode } from '@atrium/protocol/schema'
import type { Schema } from '@atrium/protocol/schema'
import type { Channel } from './channel.ts'
import type { ClientRecord, Handed } from './clients.ts'
import { notYours } from './clients.ts'
import { answered, hostCommands } from './commands.ts'
import type { Core, Link } from './core.ts'
import { dispatch } from './dispatch.ts'
import type { Entry } from './entry.ts'
import { Following } from './following.ts'
import { initialize, reconnect } from './handshake.ts'
import type { Opening } from './handshake.ts'
import { Line } from './line.ts'
import { Outbox } from './outbox.ts'
import type { Resends } from './resends.ts'
import { rest } from './rest.ts'
import { snapshotText } from './snapshot.ts'
import type { View } from './snapshot.ts'
import { wakeIfSound } from './wake.ts'

/** How long a link may stay silent before it says who it is. */
const handshakeMs = 10_000

/** One client: handshake, subscriptions, forwarding. Forwarding only. */
export class Connection implements Link, Opening {
  readonly principal: string
  readonly #core: Core
  readonly #transport: Transport
  readonly #outbox: Outbox
  readonly #line = new Line()
  readonly #following: Following
  #record: ClientRecord | undefined
  #clientId = ''
  #resends: Resends | undefined
  /** It was spared what came before this number. */
  #replayedFrom = 0
  /** The link has ended, or another has taken its place: what it had begun comes to nothing. */
  #ended = false

  constructor(core: Core, transport: Transport, principal: string) {
    this.#core = core
    this.#transport = transport
    this.principal = principal
    this.#outbox = new Outbox(transport, core.world)
    this.#following = new Following(core, this)
    const undo = core.world.later(handshakeMs, () => this.#record || this.close(1002, 'no handshake'))
    transport.closed.addEventListener('abort', () => {
      undo()
      this.#leave()
    })
    new Peer(
      outward(transport, this.#outbox),
      {
        request: (method, params) => this.#request(method, params),
        notification: (method, params) => this.#notification(method, params),
      },
      {
        // Who has gone while being answered is no problem.
        report: (problem) => problem instanceof LinkClosed || core.world.report('connection', problem),
      },
    )
  }

  get clientId(): string {
    return this.#clientId
  }

  tell(entry: Entry): void {
    this.#outbox.tell(entry)
  }

  note(frame: string): void {
    this.#outbox.note(frame)
  }

  close(code: number, reason: string): void {
    this.#leave()
    this.#transport.close(code, reason)
  }

  /** A channel whose snapshot is about to be sent: from now on this link is told what happens there. */
  follow(channel: Channel, view: View = {}, latency?: number): string {
    this.hold(channel)
    this.#following.add(channel, { view, latency })
    this.#outbox.latency = this.#following.latency
    this.#rememberHanded((handed) => handed.set(channel.uri, this.#following.handed(channel)))
    return snapshotText(this.#core, channel, view)
  }

  claim(clientId: string): void {
    if (this.#ended) throw new LinkClosed('the link has ended')
    const older = this.#core.links.get(clientId)
    if (older && older.principal !== this.principal) throw notYours()
    older?.close(1001, 'this client has opened another link')
    this.#core.links.set(clientId, this)
    this.#clientId = clientId
  }

  hold(channel: Channel): void {
    if (this.#ended) throw new LinkClosed('the link has ended')
    this.#following.add(channel)
  }

  unfollow(uri: Uri): void {
    const channel = this.#core.log.channel(uri)
    if (!channel) return
    this.#following.remove(channel)
    this.#outbox.latency = this.#following.latency
    this.#rememberHanded((handed) => handed.delete(uri))
  }

  /** An answer that stands before everything told, and everything asked, from this moment on. */
  answer(text: string): JsonResult {
    this.#outbox.pause()
    const go = this.#line.hold()
    return new JsonResult(text, () => {
      this.#outbox.resume()
      go()
    })
  }

  #request(method: string, params: unknown): unknown {
    if (method === 'ping') return null
    const command = commands.get(method)
    if (!command) throw AhpError.methodNotFound(method)
    const outcome = this.#line.run(() => this.#run(method, command.params, params))
    return outcome instanceof Promise ? outcome.then(answered) : answered(outcome)
  }

  /** When its turn has come: what was asked before may have opened the link. */
  #run(method: string, schema: Schema<unknown>, given: unknown): unknown {
    if (this.#ended) throw new LinkClosed('the link has ended')
    const opening = method === 'initialize' || method === 'reconnect'
    if (opening === (this.#record !== undefined))
      throw AhpError.invalidRequest(
        opening ? 'this link has been opened already' : 'initialize or reconnect comes first',
      )
    const decoded = decode(schema, given ?? {})
    if (!decoded.ok) throw AhpError.invalidParams(`${method}: ${decoded.problem}`)
    if (method === 'initialize') return this.#initialize(decoded.value as Params<'initialize'>)
    if (method === 'reconnect') return this.#reconnect(decoded.value as Params<'reconnect'>)
    const run = hostCommands.get(method)
    if (!run) throw AhpError.methodNotFound(method)
    return run(this.#core, this, decoded.value)
  }

  #notification(method: string, params: unknown): unknown {
    const note = notes.get(method)
    if (note?.from !== 'client') return undefined
    return this.#line.run(() => {
      // What comes late over a link that has ended is nobody's.
      if (!this.#record || this.#ended) return undefined
      const decoded = decode(note.params, params ?? {})
      if (!decoded.ok) return this.#malformed(method, params, decoded.problem)
      if (method === 'unsubscribe') return this.unfollow((decoded.value as NoteParams<'unsubscribe'>).channel)
      return this.#dispatch(decoded.value as NoteParams<'dispatchAction'>)
    })
  }

  /** What is said of a channel that nobody has is ignored; what sleeps is woken first. */
  #dispatch(params: NoteParams<'dispatchAction'>): void | Promise<void> {
    const channel = this.#core.log.channel(params.channel)
    if (channel && !this.#core.log.congested) return this.#apply(channel, params)
    return this.#core.log
      .room()
      .then(() => wakeIfSound(this.#core, params.channel))
      .then((woken) => {
        if (!woken || this.#ended) return
        this.#apply(woken, params)
        rest(this.#core, woken)
      })
  }

  #apply(channel: Channel, { clientSeq, action }: NoteParams<'dispatchAction'>): void {
    const checked = checkAction(channel.kind, action)
    const again = checked.ok ? this.#resends?.match(channel.uri, clientSeq, checked.value) : undefined
    if (again === undefined) return void dispatch(this.#core, this, channel, clientSeq, action)
    if (this.#hears(channel, again)) return
    const by = { clientId: this.clientId, clientSeq, principal: this.principal }
    this.#core.log.refuse(channel, action, by, this, `already accepted as ${again}`)
  }

  /** Whether this link is told of its own action: nobody was yet, or it is in its replay or behind its snapshot. */
  #hears(channel: Channel, seq: number): boolean {
    if (seq > this.#core.log.told) return true
    const from = this.#record?.handed.get(channel.uri)?.fromSeq ?? Infinity
    return channel.listeners.has(this) && seq > Math.max(from, this.#replayedFrom)
  }

  /** Refused where it can be told which wish it was; else only reported. */
  #malformed(method: string, params: unknown, problem: string): void {
    const { channel: uri, clientSeq, action } = (params ?? {}) as Partial<NoteParams<'dispatchAction'>>
    const channel = this.#core.log.channel(uri ?? '')
    const readable = channel && Number.isSafeInteger(clientSeq) && typeof action?.type === 'string'
    if (!readable || clientSeq === undefined)
      return this.#core.world.report('malformed notification', `${method}: ${problem}`)
    this.#core.log.refuse(
      channel,
      action,
      { clientId: this.clientId, clientSeq, principal: this.principal },
      this,
      problem,
    )
  }

  async #initialize(params: Params<'initialize'>): Promise<JsonResult> {
    const core = this.#core
    return this.#opened(async () => {
      const welcome = await initialize(core, this, params).catch((error: unknown) => {
        // Behind the answer that says so.
        if (error instanceof AhpError && error.code === errorCodes.UnsupportedProtocolVersion)
          core.world.later(0, () => this.close(1002, 'no common protocol version'))
        throw error
      })
      this.#open(welcome.record, welcome.resends)
      const channels = this.#remaining(welcome.held, core.log.told)
      const fixed = JSON.stringify({
        protocolVersion: welcome.offered,
        serverSeq: core.log.told,
        serverInfo: core.info,
        _meta: { 'x-atrium': { resends: true } },
        ...(core.defaultDirectory !== undefined && { defaultDirectory: core.defaultDirectory }),
      })
      return `${fixed.slice(0, -1)},"snapshots":[${channels.map((channel) => this.follow(channel)).join()}]}`
    })
  }

  async #reconnect(params: Params<'reconnect'>): Promise<JsonResult> {
    return this.#opened(async () => {
      const { record, resends, held, replayed, upTo } = await reconnect(this.#core, this, params)
      this.#open(record, resends)
      // What was replayed of a channel that has gone meanwhile would only confuse.
      const actions = held.every((channel) => this.#there(channel)) ? replayed : undefined
      const channels = this.#remaining(held, actions ? upTo : this.#core.log.told)
      for (const channel of channels) this.#following.restore(channel, record.handed.get(channel.uri))
      this.#outbox.latency = this.#following.latency
      if (actions) {
        this.#replayedFrom = params.lastSeenServerSeq
        const there = new Set(channels.map(({ uri }) => uri))
        const missing = [...new Set(params.subscriptions)].filter((uri) => !there.has(uri))
        return `{"type":"replay","actions":[${actions.join()}],"missing":${JSON.stringify(missing)}}`
      }
      const snapshots = channels.map((channel) => {
        const { view, latency } = this.#following.how(channel)
        return this.follow(channel, view, latency)
      })
      return `{"type":"snapshot","snapshots":[${snapshots.join()}]}`
    })
  }

  /** A handshake: what is heard meanwhile waits behind its answer, and a failure leaves nothing behind. */
  async #opened(greet: () => Promise<string>): Promise<JsonResult> {
    this.#outbox.pause()
    try {
      return this.answer(await greet())
    } catch (error) {
      this.#unclaim()
      this.#following.clear()
      this.#outbox.clear()
      throw error
    } finally {
      this.#outbox.resume()
    }
  }

  #there(channel: Channel): boolean {
    return this.#core.log.channel(channel.uri) === channel
  }

  /** Of the channels held while the disk was asked, those that are still there: these it follows, and no others. */
  #remaining(held: readonly Channel[], upTo: number): readonly Channel[] {
    const channels = held.filter((channel) => this.#there(channel))
    this.#following.retain(channels)
    const followed = new Set(channels.map(({ uri }) => uri))
    // What was told until now is in the answer, or is of no channel that it will know.
    this.#outbox.forget(
      ({ seq, channel, origin }) =>
        seq <= upTo || !(followed.has(channel) || origin?.clientId === this.#clientId),
    )
    return channels
  }

  #open(record: ClientRecord, resends: Resends): void {
    if (this.#ended) throw new LinkClosed('the link has ended')
    this.#resends = resends
    this.#core.log.redirect(record.clientId, this)
    this.#keep(record)
  }

  #rememberHanded(change: (handed: Map<Uri, Handed>) => unknown): void {
    if (!this.#record) return
    const handed = new Map(this.#record.handed)
    change(handed)
    this.#keep({ ...this.#record, handed })
  }

  #keep(record: ClientRecord): void {
    this.#record = record
    this.#core.clients.keep(record)
  }

  #leave(): void {
    this.#ended = true
    this.#line.clear()
    this.#following.clear()
    this.#unclaim()
  }

  #unclaim(): void {
    if (this.#core.links.get(this.#clientId) !== this) return
    this.#core.links.delete(this.#clientId)
    this.#core.clients.leave(this.#clientId)
  }
}

/** Answers go out behind what was told before them. */
function outward(transport: Transport, outbox: Outbox): Transport {
  return {
    send: (frame) => outbox.send(frame),
    receive: (listener) => transport.receive(listener),
    close: (code, reason) => transport.close(code, reason),
    drained: () => transport.drained(),
    closed: transport.closed,
    get buffered() {
      return transport.buffered
    },
  }
}
