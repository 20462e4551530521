import type { Action, Uri } from '@atrium/protocol/channel'
import { commands, notes } from '@atrium/protocol/commands'
import type { NoteParams, Params } from '@atrium/protocol/commands'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { checkAction } from '@atrium/protocol/kind'
import { hasOddNumber } from '@atrium/protocol/rpc/hygiene'
import { JsonResult, LinkClosed, Peer } from '@atrium/protocol/rpc/peer'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { decode, id } from '@atrium/protocol/schema'
import type { Decoded, Schema } from '@atrium/protocol/schema'
import type { Channel } from './channel.ts'
import type { ClientRecord, Handed } from './clients.ts'
import { notYours } from './clients.ts'
import { hostCommands } from './commands.ts'
import type { Core, Link } from './core.ts'
import { dispatch } from './dispatch.ts'
import type { Entry } from './entry.ts'
import { Following } from './following.ts'
import { initialize, reconnect, tooManySubscriptions } from './handshake.ts'
import type { Opening, Welcome } from './handshake.ts'
import { Intake } from './intake.ts'
import { Outbox } from './outbox.ts'
import type { Resends } from './resends.ts'
import { rest } from './rest.ts'
import { snapshotText } from './snapshot.ts'
import type { View } from './snapshot.ts'
import { wakeIfSound } from './wake.ts'

/** One client: handshake, subscriptions, forwarding. Forwarding only. */
export class Connection implements Link, Opening {
  readonly principal: string
  readonly #core: Core
  readonly #transport: Transport
  readonly #outbox: Outbox
  readonly #intake: Intake
  readonly #following: Following
  #record: ClientRecord | undefined
  #clientId = ''
  #resends: Resends | undefined
  /** The highest number that the client may have seen by now. */
  #seen = 0
  /** It was spared what came before this number. */
  #replayedFrom = 0
  #undoExpecting = () => {}
  /** The link has ended, or another has taken its place: what it had begun comes to nothing. */
  #ended = false

  constructor(core: Core, transport: Transport, principal: string) {
    this.#core = core
    this.#transport = transport
    this.principal = principal
    this.#outbox = new Outbox(transport, core.world)
    this.#following = new Following(core, this)
    this.#intake = new Intake(core.world, core.limits, (code, reason) => this.close(code, reason))
    this.#expectHandshake()
    transport.closed.addEventListener('abort', () => this.#leave())
    new Peer(
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

  tell(entry: Entry): void {
    this.#seen = Math.max(this.#seen, entry.seq)
    this.#outbox.tell(entry)
  }

  note(method: string, params: object): void {
    this.#outbox.note(noteFrame(method, params))
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
    // That it has seen a number must show that it has the snapshot.
    if (this.#seen >= this.#core.log.told) this.#core.log.advance()
    this.#rememberHanded((handed) => handed.set(channel.uri, this.#following.handed(channel, this.#seen)))
    return snapshotText(this.#core, channel, view)
  }

  admit(uri: Uri): void {
    // Nobody unsubscribes from what is no more: it must not take a place for ever.
    for (const channel of this.#following.gone) this.unfollow(channel.uri)
    if (!this.#following.admits(uri)) throw tooManySubscriptions(this.#core)
  }

  claim(clientId: string): void {
    if (this.#ended) throw new LinkClosed('the link has ended')
    const older = this.#core.links.get(clientId)
    if (older && older.principal !== this.principal) throw notYours()
    older?.close(1001, 'this client has opened another link')
    this.#core.links.set(clientId, this)
    this.#core.grace.back(clientId)
    this.#clientId = clientId
  }

  hold(channel: Channel): void {
    if (this.#ended) throw new LinkClosed('the link has ended')
    this.#following.add(channel)
  }

  unfollow(uri: Uri): void {
    const channel = this.#following.find(uri)
    if (channel) this.#following.remove(channel)
    this.#outbox.latency = this.#following.latency
    if (this.#record?.handed.has(uri)) this.#rememberHanded((handed) => handed.delete(uri))
  }

  /** An answer that stands before everything told, and everything asked, from this moment on. */
  answer(text: string): JsonResult {
    this.#outbox.pause()
    this.#seen = Math.max(this.#seen, this.#core.log.told)
    const go = this.#intake.hold()
    return new JsonResult(text, () => {
      this.#outbox.resume()
      go()
    })
  }

  /** Who does not say who it is in time is let go. Who has said so waits for our disk, and not we for it. */
  #expectHandshake(): void {
    this.#undoExpecting = this.#core.world.later(this.#core.limits.handshakeMs, () => {
      if (this.#record) return
      if (this.#claimed) this.#expectHandshake()
      else this.close(1002, 'no handshake')
    })
  }

  #request(method: string, params: unknown): unknown {
    if (method === 'ping') return this.#intake.ping()
    const command = commands.get(method)
    if (!command) throw AhpError.methodNotFound(method)
    if (isOpening(method)) this.#intake.greeted = true
    return this.#intake.ask(() => this.#run(method, command.params, params))
  }

  /** When its turn has come: what was asked before may have opened the link. */
  #run(method: string, schema: Schema<unknown>, given: unknown): unknown {
    if (this.#ended) throw new LinkClosed('the link has ended')
    const opening = isOpening(method)
    if (opening === (this.#record !== undefined))
      throw AhpError.invalidRequest(
        opening ? 'this link has been opened already' : 'initialize or reconnect comes first',
      )
    const decoded = judged(schema, given)
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
    return this.#intake.say((reason) => {
      // What comes late over a link that has ended is nobody's.
      if (!this.#record || this.#ended) return undefined
      const decoded = judged(note.params, params)
      if (!decoded.ok) return this.#malformed(method, params, decoded.problem)
      if (method === 'unsubscribe') return this.unfollow((decoded.value as NoteParams<'unsubscribe'>).channel)
      return this.#dispatch(decoded.value as NoteParams<'dispatchAction'>, reason)
    })
  }

  /** What is said of a channel that nobody has is ignored; what sleeps is woken first. */
  #dispatch(params: NoteParams<'dispatchAction'>, reason: string | undefined): void | Promise<void> {
    const channel = this.#core.log.channel(params.channel)
    if (channel && !this.#core.log.congested) return this.#apply(channel, params, reason)
    return this.#core.log
      .room()
      .then(() => wakeIfSound(this.#core, params.channel))
      .then((woken) => {
        if (!woken || this.#ended) return
        this.#apply(woken, params, reason)
        rest(this.#core, woken)
      })
  }

  #apply(channel: Channel, params: NoteParams<'dispatchAction'>, reason: string | undefined): void {
    const { clientSeq, action } = params
    if (reason !== undefined) return this.#refuse(channel, clientSeq, action, reason)
    const checked = checkAction(channel.kind, action)
    const again = checked.ok ? this.#resends?.match(channel.uri, clientSeq, checked.value) : undefined
    if (again === undefined) return void dispatch(this.#core, this, channel, clientSeq, action)
    if (this.#hears(channel, again)) return
    this.#refuse(channel, clientSeq, action, `already accepted as ${again}`)
  }

  /** Whether this link is told of its own action: nobody was yet, or it is in its replay or behind its snapshot. */
  #hears(channel: Channel, seq: number): boolean {
    if (seq > this.#core.log.told) return true
    const from = this.#record?.handed.get(channel.uri)?.fromSeq ?? Infinity
    return channel.listeners.has(this) && seq > Math.max(from, this.#replayedFrom)
  }

  /** Refused where it can be told which wish it was, like any other; else only reported. */
  #malformed(method: string, params: unknown, problem: string): void | Promise<void> {
    const { channel, clientSeq = -1, action } = (params ?? {}) as Partial<NoteParams<'dispatchAction'>>
    const named = decode(id, channel).ok && Number.isSafeInteger(clientSeq) && clientSeq >= 0
    if (named && typeof action?.type === 'string')
      return this.#dispatch(params as NoteParams<'dispatchAction'>, problem)
    this.#intake.report('malformed notification', `${method}: ${problem}`)
  }

  #refuse(channel: Channel, clientSeq: number, action: Action, reason: string): void {
    const by = { clientId: this.clientId, clientSeq, principal: this.principal }
    this.#core.log.refuse(channel, action, by, this, reason)
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
      this.#open(welcome)
      const channels = this.#remaining(welcome.held, core.log.told)
      const snapshots = channels.map((channel) => this.follow(channel)).join()
      const fixed = JSON.stringify({
        protocolVersion: welcome.offered,
        serverSeq: core.log.told,
        serverInfo: core.info,
        _meta: { 'x-atrium': { resends: true } },
        ...(core.defaultDirectory !== undefined && { defaultDirectory: core.defaultDirectory }),
      })
      return `${fixed.slice(0, -1)},"snapshots":[${snapshots}]}`
    })
  }

  async #reconnect(params: Params<'reconnect'>): Promise<JsonResult> {
    return this.#opened(async () => {
      const welcome = await reconnect(this.#core, this, params)
      const { record, held, replayed, upTo } = welcome
      this.#open(welcome)
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

  #open({ record, resends, seen }: Welcome): void {
    if (this.#ended) throw new LinkClosed('the link has ended')
    this.#resends = resends
    this.#seen = seen
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

  /** The transport as JSON-RPC sees it: frames come in counted, answers go out behind what was told before them. */
  #ends(): Transport {
    const transport = this.#transport
    return {
      send: (frame) => this.#outbox.send(frame),
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
    this.#following.clear()
    this.#unclaim()
  }

  /** It has said who it is, and no newer link has. */
  get #claimed(): boolean {
    return this.#core.links.get(this.#clientId) === this
  }

  #unclaim(): void {
    if (!this.#claimed) return
    this.#core.links.delete(this.#clientId)
    this.#core.clients.leave(this.#clientId)
    this.#core.grace.left(this.#clientId)
  }
}

/** The same text for everyone who is told the same. */
function noteFrame(method: string, params: object): string {
  const text = noteFrames.get(params) ?? JSON.stringify({ jsonrpc: '2.0', method, params })
  noteFrames.set(params, text)
  return text
}

const noteFrames = new WeakMap<object, string>()

/** Its shape, and that it can be kept as it is (S-19). */
function judged(schema: Schema<unknown>, given: unknown): Decoded<unknown> {
  if (hasOddNumber(given)) return { ok: false, problem: 'a number that JSON cannot keep: too large, or -0' }
  return decode(schema, given ?? {})
}

function isOpening(method: string): boolean {
  return method === 'initialize' || method === 'reconnect'
}
