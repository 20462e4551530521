import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Action, Envelope, Reduce, Uri } from '@atrium/protocol/channel'
import { kinds, reducers } from '@atrium/protocol/channels'
import { AhpError } from '@atrium/protocol/errors'
import { checkAction } from '@atrium/protocol/kind'
import type { SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { commandsOf } from './wrong-commands.ts'
import type { Fault } from './faults.ts'

/** A host for the tests of the kit alone: as small as a correct one can be, with one fault or none. */
export async function startWrongHost(fault?: Fault): Promise<{ url: string; close(): Promise<void> }> {
  const host = new WrongHost(fault)
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  server.on('connection', (socket) => new WrongLink(host, socket))
  await once(server, 'listening')
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      for (const socket of server.clients) socket.terminate()
      server.close()
      await once(server, 'close')
    },
  }
}

type Kind = 'root' | 'session' | 'chat'

export interface Channel {
  readonly kind: Kind
  state: unknown
}

/** What happened, and to whom it is told. */
export class WrongHost {
  readonly fault: Fault | undefined
  readonly channels = new Map<Uri, Channel>()
  readonly summaries = new Map<Uri, SessionSummary>()
  readonly links = new Set<WrongLink>()
  /** What each client followed when it was last here. */
  readonly clients = new Map<string, Set<Uri>>()
  readonly log: Envelope[] = []
  seq = 0

  constructor(fault: Fault | undefined) {
    this.fault = fault
    const agent = { provider: 'mock', displayName: 'Mock', description: '', models: [] }
    const agents = this.has('agentless') ? [] : [agent]
    this.channels.set(rootUri, { kind: 'root', state: { agents, activeSessions: 0 } })
  }

  has(fault: Fault): boolean {
    return this.fault === fault
  }

  /** Numbers, reduces, keeps and tells. */
  append(uri: Uri, action: Action, by?: WrongLink, clientSeq = 0): void {
    const channel = this.channels.get(uri)
    if (!channel) return
    if (!(this.has('wrongReducer') && action.type === 'session/isArchivedChanged'))
      channel.state = (reducers[channel.kind] as Reduce<unknown>)(channel.state, action)
    const number = this.has('numbersPerChannel')
      ? this.log.filter((envelope) => envelope.channel === uri).length + 1
      : this.seq + 1
    this.seq++
    const origin = by && { clientId: by.clientId, clientSeq }
    const envelope: Envelope = {
      channel: uri,
      action,
      serverSeq: number,
      ...(origin && { origin }),
      ...(this.has('emptyReason') && { rejectionReason: '' }),
      ...(!origin && this.has('nullOrigin') && ({ origin: null } as object)),
    }
    this.log.push(envelope)
    for (const link of this.links)
      if (link === by || link.following.has(uri) || (this.has('toldToAll') && link.clientId !== ''))
        link.tell(link === by ? envelope : this.#forOthers(envelope))
    if (channel.kind === 'session') this.#summarize(uri, channel.state as SessionState)
  }

  refuse(uri: Uri, action: Action, by: WrongLink, clientSeq: number, rejectionReason: string): void {
    const origin = { clientId: by.clientId, clientSeq }
    const envelope = { channel: uri, action, serverSeq: ++this.seq, origin, rejectionReason }
    for (const link of this.links)
      if (link === by || (this.has('rejectionBroadcast') && link.following.has(uri))) link.tell(envelope)
    if (this.has('rejectionTwice')) by.tell(envelope)
    const channel = this.channels.get(uri)
    if (channel && this.has('rejectedAnyway') && 'title' in action)
      channel.state = { ...(channel.state as object), ...action }
  }

  note(method: string, params: object): void {
    for (const link of this.links)
      if (link.following.has(rootUri) || (this.has('notesToAll') && link.clientId !== ''))
        link.send({ method, params: { channel: rootUri, ...params } })
  }

  countSessions(): void {
    const activeSessions = this.summaries.size
    const root = this.channels.get(rootUri)
    if (root && this.has('rootSilent')) root.state = { ...(root.state as object), activeSessions }
    else this.append(rootUri, { type: 'root/activeSessionsChanged', activeSessions } as Action)
  }

  #forOthers(envelope: Envelope): Envelope {
    const { origin: _, ...rest } = envelope
    if (this.has('originHidden')) return rest
    if (!this.has('othersToldOtherwise')) return envelope
    return { ...envelope, action: { ...envelope.action, title: 'something else' } as Action }
  }

  #summarize(uri: Uri, { title, status }: SessionState): void {
    const before = this.summaries.get(uri)
    if (!before || this.has('summaryKept') || (before.title === title && before.status === status)) return
    this.summaries.set(uri, { ...before, title, status })
    const changes = { title, status, ...(this.has('summaryRepeats') && { provider: 'mock' }) }
    this.note('root/sessionSummaryChanged', { session: uri, changes })
  }
}

interface Message {
  readonly id?: string | number
  readonly method?: unknown
  readonly params?: { readonly [key: string]: unknown }
}

/** One client. */
export class WrongLink {
  readonly following = new Set<Uri>()
  clientId = ''
  readonly #host: WrongHost
  readonly #socket: WebSocket
  readonly #commands
  #waiting: (() => void)[] = []

  constructor(host: WrongHost, socket: WebSocket) {
    this.#host = host
    this.#socket = socket
    this.#commands = commandsOf(host, this)
    host.links.add(this)
    socket.on('message', (data) => this.#frame((data as Buffer).toString()))
    socket.on('close', () => host.links.delete(this))
  }

  tell(envelope: Envelope): void {
    this.send({ method: 'action', params: envelope })
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  close(): void {
    this.#socket.close(1002)
  }

  #frame(text: string): void {
    let message: Message | readonly Message[]
    try {
      message = JSON.parse(text) as Message
    } catch {
      const code = this.#host.has('parseErrorMiscoded') ? -32600 : -32700
      return this.send({ id: null, error: { code, message: 'not JSON' } })
    }
    if (Array.isArray(message) && this.#host.has('batchServed')) {
      const answers = (message as readonly Message[]).map(({ id }) => ({ jsonrpc: '2.0', id, result: null }))
      return this.#socket.send(JSON.stringify(answers))
    }
    const { id, method, params = {} } = message as Message
    if (typeof method !== 'string') {
      const code = this.#host.has('invalidRequestMiscoded') ? -32603 : -32600
      return this.send({ id: null, error: { code, message: 'not a message' } })
    }
    if (id === undefined) this.#notified(method, params)
    else this.#asked(id, method, params)
  }

  #asked(id: string | number, method: string, params: { readonly [key: string]: unknown }): void {
    const host = this.#host
    if (host.has('channelNeeded') && params['channel'] === undefined) return
    const named = typeof id === 'string' && id !== '' && host.has('idsAsNumbers') ? Number(id) || id : id
    const answer = (): object => {
      try {
        const command = this.#commands.get(method)
        if (command) return { id: named, result: command(params) ?? null }
        if (host.has('unknownMethodAnswered')) return { id: named, result: null }
        throw AhpError.methodNotFound(method)
      } catch (error) {
        if (!(error instanceof AhpError)) throw error
        const { code, message, data } = error
        return { id: named, error: { code, message, data } }
      }
    }
    // As if something had to be started first, and the requests behind it did not wait.
    if (host.has('slowBirth') && method === 'createSession')
      return void setImmediate(() => this.send(answer()))
    const said = answer()
    this.send(said)
    if (host.has('answeredTwice') && 'error' in said) this.send(said)
  }

  #notified(method: string, params: { readonly [key: string]: unknown }): void {
    const host = this.#host
    const known = this.#commands.has(method) || method === 'unsubscribe'
    if (
      host.has(known ? 'notificationAnswered' : 'unknownNotificationAnswered') &&
      method !== 'dispatchAction'
    )
      this.send({ id: null, error: { code: -32600, message: 'no id' } })
    const uri = params['channel'] as Uri
    if (method === 'unsubscribe' && !host.has('unsubscribeIgnored')) this.following.delete(uri)
    if (method !== 'dispatchAction') return
    const { clientSeq, action } = params as { clientSeq: number; action: Action }
    if (!host.has('echoesOutOfOrder')) return this.#dispatched(uri, clientSeq, action)
    // What came in one go is taken from its end.
    if (this.#waiting.length === 0)
      setImmediate(() => {
        const waiting = this.#waiting.toReversed()
        this.#waiting = []
        for (const take of waiting) take()
      })
    this.#waiting.push(() => this.#dispatched(uri, clientSeq, action))
  }

  #dispatched(uri: Uri, clientSeq: number, action: Action): void {
    const host = this.#host
    const channel = host.channels.get(uri)
    if (!channel) {
      if (host.has('unknownChannelEchoed')) host.refuse(uri, action, this, clientSeq, 'no such channel')
      return
    }
    const reason = this.#refusal(channel, action)
    if (reason === undefined) host.append(uri, action, this, clientSeq)
    else host.refuse(uri, action, this, clientSeq, reason)
  }

  #refusal({ kind, state }: Channel, action: Action): string | undefined {
    const host = this.#host
    const { type } = action
    const checked = checkAction(kinds[kind], action)
    if (!checked.ok) return host.has('invalidTaken') ? undefined : checked.problem
    if (type === 'session/defaultChatChanged' && host.has('defaultChatTaken')) return undefined
    if (type === 'chat/turnCancelled' && host.has('cancelTaken')) return undefined
    if (type === 'chat/toolCallConfirmed' && host.has('confirmTaken')) return undefined
    if (host.has('unknownActionApplied') && !kinds[kind].actions.has(type))
      Object.assign(state as object, action)
    if (host.has('strictActions') && 'x-conformance' in action) return 'what is x-conformance?'
    if (!kinds[kind].dispatchable.has(type)) return `${type} is not for clients`
    return kind === 'chat' ? 'nothing runs here' : undefined
  }
}
