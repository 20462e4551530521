import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { reducers } from '@atrium/protocol/reducers'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { SessionState } from '@atrium/protocol/session/state'
import { knows } from '@atrium/protocol/versions/known'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { sameState } from '../../../conformance/src/kit/fold.ts'
import { kindOf } from './test-host.ts'

/** A frame, as far as it is looked at here. */
export interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

interface Wish {
  readonly channel: Uri
  readonly clientSeq: number
  readonly type: string
}

interface Followed {
  readonly kind: keyof typeof reducers
  readonly state: unknown
  /** The number of the last thing that is in it. */
  readonly seq: number
}

/**
 * One end of a link that sends what it is given, keeps all it hears in the order it came, folds it, and notes what no
 * client of its generation could live with. It has no peer of ours in it, so that a mistake there cannot hide one here.
 */
export class Witness {
  readonly heard: Message[] = []
  readonly problems: string[] = []
  /** What was dispatched and is neither echoed nor refused, oldest first. */
  readonly pending: Wish[] = []
  readonly followed = new Map<Uri, Followed>()
  readonly asked: Message[] = []
  /** What was asked and not answered. */
  readonly open = new Map<number, Message>()
  readonly errors: { readonly asked: Message; readonly code: number }[] = []
  readonly transport: Transport
  readonly version: Version
  clientId = ''
  lastSeen = 0
  /** The highest number of an action on this very link. */
  #told = 0
  readonly #waiting = new Set<{ readonly done: () => boolean; readonly resolve: () => void }>()

  constructor(transport: Transport, version: Version) {
    this.transport = transport
    this.version = version
    transport.receive((frame) => this.#hear(JSON.parse(frame) as Message))
    transport.closed.addEventListener('abort', () => this.#wake())
  }

  /** Takes over what the client had on the link before. */
  inherit({ lastSeen, pending, followed }: Witness): void {
    this.lastSeen = lastSeen
    this.pending.push(...pending)
    for (const [uri, known] of followed) this.followed.set(uri, known)
  }

  say(message: Message): void {
    const { id, method, params = {} } = message
    if (id !== undefined) {
      this.asked.push(message)
      this.open.set(id, message)
    }
    if (method === 'initialize' || method === 'reconnect') this.clientId = String(params['clientId'])
    if (method === 'unsubscribe') this.followed.delete(String(params['channel']))
    if (method === 'dispatchAction') {
      const { channel, clientSeq, action } = params as unknown as Omit<Wish, 'type'> & { action: Action }
      this.pending.push({ channel, clientSeq, type: action.type })
    }
    this.transport.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  /** Resolves when what was heard is as wished, and when it can never be. */
  async until(done: () => boolean): Promise<void> {
    if (!done() && !this.transport.closed.aborted)
      await new Promise<void>((resolve) => this.#waiting.add({ done, resolve }))
    if (!done()) throw new Error('the link has ended before that')
  }

  answerTo(id: number): Message | undefined {
    return this.heard.find((message) => message.method === undefined && message.id === id)
  }

  /** As it is folded so far; nothing where it follows no such channel. */
  state(channel: Uri): unknown {
    return this.followed.get(channel)?.state
  }

  session(channel: Uri): SessionState {
    return this.state(channel) as SessionState
  }

  chat(channel: Uri): ChatState {
    return this.state(channel) as ChatState
  }

  get envelopes(): readonly Envelope[] {
    return this.heard.flatMap(({ method, params }) =>
      method === 'action' ? [params as unknown as Envelope] : [],
    )
  }

  /** The params of each notification of a name. */
  notes(name: string): readonly Record<string, unknown>[] {
    return this.heard.flatMap(({ method, params }) => (method === name && params ? [params] : []))
  }

  /** Where in all that was heard something stands; -1 where it does not. */
  at(found: (message: Message) => boolean): number {
    return this.heard.findIndex(found)
  }

  #hear(message: Message): void {
    this.heard.push(message)
    const { id, method, params } = message
    if (method === undefined) this.#answered(message)
    else if (id !== undefined) this.problems.push(`was asked ${method}`)
    else if (!knows(this.version, method)) this.problems.push(`was told ${method}, which is not its own`)
    else if (method === 'action') this.#action(params as unknown as Envelope)
    this.#wake()
  }

  #answered({ id, result, error }: Message): void {
    const asked = this.open.get(id ?? -1)
    if (!asked) return void this.problems.push(`an answer to ${id}, which waits for none`)
    this.open.delete(id ?? -1)
    if (error) this.errors.push({ asked, code: error.code })
    else if (asked.method === 'disposeSession') this.followed.delete(String(asked.params?.['channel']))
    const { snapshot, snapshots, actions, missing, serverSeq } = (result ?? {}) as {
      readonly snapshot?: Snapshot
      readonly snapshots?: readonly Snapshot[]
      readonly actions?: readonly Envelope[]
      readonly missing?: readonly Uri[]
      readonly serverSeq?: number
    }
    // Whoever is handed everything anew keeps nothing that is not in it.
    if (snapshots) this.followed.clear()
    for (const given of [...(snapshots ?? []), ...(snapshot ? [snapshot] : [])]) this.#take(given)
    for (const uri of missing ?? []) this.followed.delete(uri)
    for (const envelope of actions ?? []) this.#action(envelope)
    this.lastSeen = Math.max(this.lastSeen, serverSeq ?? 0)
  }

  #take({ resource, state, fromSeq }: Snapshot): void {
    this.followed.set(resource, { kind: kindOf(state as object), state, seq: fromSeq })
    this.lastSeen = Math.max(this.lastSeen, fromSeq)
  }

  #action(envelope: Envelope): void {
    const { channel, action, serverSeq, origin, rejectionReason } = envelope
    if (!knows(this.version, action.type)) this.problems.push(`was told ${action.type}, which is not its own`)
    if (serverSeq <= this.#told) this.problems.push(`${action.type}: ${serverSeq} comes after ${this.#told}`)
    this.#told = serverSeq
    this.lastSeen = Math.max(this.lastSeen, serverSeq)
    if (origin?.clientId === this.clientId) this.#retire({ ...origin, channel, type: action.type })
    const followed = this.followed.get(channel)
    if (!followed || rejectionReason !== undefined) return
    if (serverSeq <= followed.seq)
      return void this.problems.push(`${action.type}: ${serverSeq} is in its snapshot already`)
    const reduce = reducers[followed.kind] as (state: unknown, action: Action) => unknown
    this.followed.set(channel, { ...followed, state: reduce(followed.state, action), seq: serverSeq })
  }

  /** Only the oldest wish may come back: a client that waits for it would keep the others pending for ever. */
  #retire(own: Wish): void {
    const head = this.pending.shift()
    const same = head?.clientSeq === own.clientSeq && head.channel === own.channel && head.type === own.type
    if (!same) this.problems.push(`${nameOf(own)} came back, and not ${head ? nameOf(head) : 'nothing'}`)
  }

  #wake(): void {
    for (const waiter of this.#waiting)
      if (waiter.done() || this.transport.closed.aborted) {
        this.#waiting.delete(waiter)
        waiter.resolve()
      }
  }
}

/** Whoever has followed along has what a newcomer is handed, but for what no action tells. */
export function sameAsHost(link: Witness, newcomer: Witness): void {
  for (const [uri, { kind, state }] of link.followed)
    sameState(kind as 'root' | 'session' | 'chat', uri, newcomer.state(uri), state)
}

function nameOf({ type, clientSeq, channel }: Wish): string {
  return `${type} ${clientSeq} of ${channel}`
}
