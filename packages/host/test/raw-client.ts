import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { reducers } from '@atrium/protocol/reducers'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { SessionState } from '@atrium/protocol/session/state'
import { knows } from '@atrium/protocol/versions/known'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { sameState } from '../../../conformance/src/kit/fold.ts'
import { kindOf } from './test-host.ts'

/** A JSON-RPC frame. */
export interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

interface Pending {
  readonly channel: Uri
  readonly clientSeq: number
  readonly type: string
}

interface Followed {
  readonly kind: keyof typeof reducers
  readonly state: unknown
  /** The sequence number of the last action that the state contains. */
  readonly seq: number
}

/**
 * A client that works on bare frames. It sends given frames, keeps all received frames, reduces their actions, and records
 * every message that a client of its version must not get. It does not use the project's own `Peer`, so that a fault in
 * `Peer` cannot hide a fault of the host.
 */
export class RawClient {
  readonly received: Message[] = []
  readonly problems: string[] = []
  /** The dispatches that were neither echoed nor refused yet, oldest first. */
  readonly pending: Pending[] = []
  readonly followed = new Map<Uri, Followed>()
  readonly asked: Message[] = []
  /** The requests without a response. */
  readonly open = new Map<number, Message>()
  readonly errors: { readonly asked: Message; readonly code: number }[] = []
  readonly transport: Transport
  readonly version: Version
  clientId = ''
  lastSeen = 0
  /** The highest sequence number of an action on this connection. */
  #lastReceived = 0
  readonly #waiting = new Set<{ readonly done: () => boolean; readonly resolve: () => void }>()

  constructor(transport: Transport, version: Version) {
    this.transport = transport
    this.version = version
    transport.receive((frame) => this.#receive(JSON.parse(frame) as Message))
    transport.closed.addEventListener('abort', () => this.#wake())
  }

  /** Takes over the state from the client's older connection. */
  inherit({ lastSeen, pending, followed }: RawClient): void {
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
      const { channel, clientSeq, action } = params as unknown as Omit<Pending, 'type'> & { action: Action }
      this.pending.push({ channel, clientSeq, type: action.type })
    }
    this.transport.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  /** Resolves when a condition on the received frames holds. Rejects if the connection ends before that. */
  async until(done: () => boolean): Promise<void> {
    if (!done() && !this.transport.closed.aborted)
      await new Promise<void>((resolve) => this.#waiting.add({ done, resolve }))
    if (!done()) throw new Error('the connection has ended before that')
  }

  answerTo(id: number): Message | undefined {
    return this.received.find((message) => message.method === undefined && message.id === id)
  }

  /** The reduced state of a channel; undefined if the client is not subscribed to it. */
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
    return this.received.flatMap(({ method, params }) =>
      method === 'action' ? [params as unknown as Envelope] : [],
    )
  }

  /** The params of all notifications of a method. */
  notes(name: string): readonly Record<string, unknown>[] {
    return this.received.flatMap(({ method, params }) => (method === name && params ? [params] : []))
  }

  /** The index of the first received frame that satisfies a condition, or -1. */
  at(found: (message: Message) => boolean): number {
    return this.received.findIndex(found)
  }

  #receive(message: Message): void {
    this.received.push(message)
    const { id, method, params } = message
    if (method === undefined) this.#applyResponse(message)
    else if (id !== undefined) this.problems.push(`got the request ${method}`)
    else if (!knows(this.version, method))
      this.problems.push(`got ${method}, which its version does not have`)
    else if (method === 'action') this.#action(params as unknown as Envelope)
    this.#wake()
  }

  #applyResponse({ id, result, error }: Message): void {
    const asked = this.open.get(id ?? -1)
    if (!asked) return void this.problems.push(`got a response to ${id}, which is no open request`)
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
    // A client that gets snapshots drops all states that it had.
    if (snapshots) this.followed.clear()
    for (const given of [...(snapshots ?? []), ...(snapshot ? [snapshot] : [])]) this.#applySnapshot(given)
    for (const uri of missing ?? []) this.followed.delete(uri)
    for (const envelope of actions ?? []) this.#action(envelope)
    this.lastSeen = Math.max(this.lastSeen, serverSeq ?? 0)
  }

  #applySnapshot({ resource, state, fromSeq }: Snapshot): void {
    this.followed.set(resource, { kind: kindOf(state as object), state, seq: fromSeq })
    this.lastSeen = Math.max(this.lastSeen, fromSeq)
  }

  #action(envelope: Envelope): void {
    const { channel, action, serverSeq, origin, rejectionReason } = envelope
    if (!knows(this.version, action.type))
      this.problems.push(`got ${action.type}, which its version does not have`)
    if (serverSeq <= this.#lastReceived)
      this.problems.push(`${action.type}: ${serverSeq} comes after ${this.#lastReceived}`)
    this.#lastReceived = serverSeq
    this.lastSeen = Math.max(this.lastSeen, serverSeq)
    if (origin?.clientId === this.clientId) this.#retire({ ...origin, channel, type: action.type })
    const followed = this.followed.get(channel)
    if (!followed || rejectionReason !== undefined) return
    if (serverSeq <= followed.seq)
      return void this.problems.push(`${action.type}: ${serverSeq} is in its snapshot already`)
    const reduce = reducers[followed.kind] as (state: unknown, action: Action) => unknown
    this.followed.set(channel, { ...followed, state: reduce(followed.state, action), seq: serverSeq })
  }

  /**
   * Removes the oldest pending dispatch. It is a fault if another dispatch is echoed first: the oldest one would then stay
   * pending for ever.
   */
  #retire(own: Pending): void {
    const head = this.pending.shift()
    const same = head?.clientSeq === own.clientSeq && head.channel === own.channel && head.type === own.type
    if (!same) this.problems.push(`${nameOf(own)} was echoed before ${head ? nameOf(head) : 'nothing'}`)
  }

  #wake(): void {
    for (const waiter of this.#waiting)
      if (waiter.done() || this.transport.closed.aborted) {
        this.#waiting.delete(waiter)
        waiter.resolve()
      }
  }
}

/** Expects that a client has the same states as a new client. Members that no action changes are not compared. */
export function expectSameStates(link: RawClient, newcomer: RawClient): void {
  for (const [uri, { kind, state }] of link.followed)
    sameState(kind as 'root' | 'session' | 'chat', uri, newcomer.state(uri), state)
}

function nameOf({ type, clientSeq, channel }: Pending): string {
  return `${type} ${clientSeq} of ${channel}`
}
