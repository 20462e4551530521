import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { commandsOf } from './wrong-commands.ts'
import { sendOlderTurns } from './wrong-chats.ts'
import { acceptedAction, rejectionOf } from './wrong-guards.ts'
import type { Subscriber, WrongLog } from './wrong-log.ts'

interface Message {
  readonly id?: string | number
  readonly method?: unknown
  readonly params?: { readonly [key: string]: unknown }
}

/** What the wrong host uses of a WebSocket. */
interface Socket {
  on(event: 'message', listener: (data: Buffer) => void): unknown
  on(event: 'close', listener: () => void): unknown
  send(text: string): void
  close(code: number): void
}

/** One connection of a client. */
export class WrongLink implements Subscriber {
  readonly subscriptions = new Set<Uri>()
  readonly views = new Map<Uri, number>()
  readonly since: number
  clientId = ''
  readonly #host: WrongLog
  readonly #socket: Socket
  readonly #commands
  #waiting: (() => void)[] = []

  constructor(host: WrongLog, socket: Socket) {
    this.#host = host
    this.since = host.seq
    this.#socket = socket
    this.#commands = commandsOf(host, this)
    host.links.add(this)
    socket.on('message', (data) => this.#frame(data.toString()))
    socket.on('close', () => host.links.delete(this))
  }

  deliver(envelope: Envelope): void {
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
    if (id === undefined) this.#notification(method, params)
    else this.#request(id, method, params)
  }

  #request(id: string | number, method: string, params: { readonly [key: string]: unknown }): void {
    const host = this.#host
    if (host.has('channelRequired') && params['channel'] === undefined) return
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
    // The session is created late, while the requests that follow are answered at once.
    if (host.has('slowCreation') && method === 'createSession')
      return void setImmediate(() => this.send(answer()))
    const response = answer()
    this.send(response)
    if (host.has('answeredTwice') && 'error' in response) this.send(response)
  }

  #notification(method: string, params: { readonly [key: string]: unknown }): void {
    const host = this.#host
    const known = this.#commands.has(method) || method === 'unsubscribe'
    if (
      host.has(known ? 'notificationAnswered' : 'unknownNotificationAnswered') &&
      method !== 'dispatchAction'
    )
      this.send({ id: null, error: { code: -32600, message: 'no id' } })
    const uri = params['channel'] as Uri
    if (method === 'unsubscribe' && !host.has('unsubscribeIgnored')) this.subscriptions.delete(uri)
    if (method !== 'dispatchAction') return
    const { clientSeq, action } = params as { clientSeq: number; action: Action }
    if (!host.has('echoesOutOfOrder')) return this.#dispatch(uri, clientSeq, action)
    // Actions that arrive together are applied in reverse order.
    if (this.#waiting.length === 0)
      setImmediate(() => {
        const waiting = this.#waiting.toReversed()
        this.#waiting = []
        for (const dispatch of waiting) dispatch()
      })
    this.#waiting.push(() => this.#dispatch(uri, clientSeq, action))
  }

  #dispatch(uri: Uri, clientSeq: number, action: Action): void {
    const host = this.#host
    const channel = host.channels.get(uri)
    if (!channel) {
      const chat = uri.startsWith('ahp-chat:') && host.has('unknownChatEchoed')
      if (chat || host.has('unknownChannelEchoed'))
        host.reject(this, { uri, action, clientSeq, rejectionReason: 'no such channel' })
      return
    }
    const unsubscribed = host.has('chatMustBeOpen') && channel.kind === 'chat' && !this.subscriptions.has(uri)
    const reason = unsubscribed ? 'open the chat first' : rejectionOf(host, channel, action)
    if (reason === undefined) sendOlderTurns(host, uri, action)
    if (reason === undefined) host.append(uri, acceptedAction(host, channel, action), this, clientSeq)
    else host.reject(this, { uri, action, clientSeq, rejectionReason: reason })
  }
}
