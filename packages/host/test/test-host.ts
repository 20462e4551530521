import { memoryStore } from '@atrium/adapters/store/memory'
import type { MemoryOptions, MemoryStore } from '@atrium/adapters/store/memory'
import type { Action, Envelope, Snapshot } from '@atrium/protocol/channel'
import { reducers } from '@atrium/protocol/reducers'
import type { Method, Params, Result } from '@atrium/protocol/commands'
import type { LimitValues } from '@atrium/protocol/limits'
import { clientLimits } from '@atrium/protocol/rpc/frame-check'
import { pair } from '@atrium/protocol/rpc/pair'
import type { Schedule } from '@atrium/protocol/rpc/pair'
import { Peer } from '@atrium/protocol/rpc/peer'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { Core } from '../src/kernel/core.ts'
import { hostOf } from '../src/host.ts'
import type { Host } from '../src/host.ts'
import { openCore } from '../src/open.ts'
import type { HostPorts } from '../src/open.ts'
import type { Agent } from '../src/ports/agent.ts'
import { testWorld } from './world.ts'
import type { TestWorld } from './world.ts'

/** An agent whose turns end at once, without any action. */
export const silentAgent: Agent = {
  info: { provider: 'mock', displayName: 'Mock', description: '', models: [] },
  resumes: false,
  async *run() {},
}

/** A machine whose clients create sessions in advance, as VS Code does. */
export const advance: Machine = { habits: () => ({ createsInAdvance: true }) }

/** A host on a store in memory, and clients connected to it by in-memory transports. */
export interface TestHost {
  readonly world: TestWorld
  readonly store: () => MemoryStore
  host(): Host
  core(): Core
  join(clientId: string, options?: { subscribe?: readonly string[]; principal?: string }): Promise<Client>
  /** A client that has not sent a handshake yet. */
  link(principal?: string): Client
  /** Returns the two ends of a new connection. The host is already connected to `near`; the test uses `far`. */
  wire(principal?: string, schedule?: Schedule): readonly [near: Transport, far: Transport]
  /** Ends the host by a crash or a close, and starts another host on what the store has made durable. */
  restart(how?: 'crash' | 'close', readOnly?: string, agents?: readonly Agent[]): Promise<void>
}

export type Machine = Pick<
  HostPorts,
  | 'files'
  | 'terminals'
  | 'vcs'
  | 'captures'
  | 'otherHosts'
  | 'worktrees'
  | 'commits'
  | 'encoder'
  | 'customizations'
  | 'hooks'
  | 'mcp'
  | 'authorizer'
  | 'search'
  | 'notifier'
  | 'telemetry'
  | 'listens'
  | 'defaultDirectory'
  | 'headEvery'
  | 'sealLeast'
  | 'habits'
>

export interface TestHostOptions extends MemoryOptions {
  readonly limits?: Partial<LimitValues>
  readonly agents?: readonly Agent[]
  /** The files, terminals, version control and default directory that the host is given. */
  readonly machine?: Machine
  /** The number of finished turns with which a chat is woken. */
  readonly tail?: number
  /** The store that the host begins with. */
  readonly disk?: MemoryStore
}

export async function testHost({
  limits = {},
  agents = [silentAgent],
  machine = {},
  tail,
  disk,
  ...options
}: TestHostOptions = {}): Promise<TestHost> {
  const world = testWorld()
  let store = disk ?? memoryStore(options)
  const start = (readOnly?: string, present = agents) => {
    const kept = { ...(readOnly !== undefined && { readOnly }), ...(tail !== undefined && { tail }) }
    return openCore({ store, world, agents: present, build: 'test', limits, ...machine, ...kept })
  }
  let core = await start()
  let host = hostOf(core)
  const wire = (principal = 'owner', schedule?: Schedule) => {
    const ends = pair(schedule)
    host.connect(ends[0], principal)
    return ends
  }
  const link = (principal?: string) => new Client(wire(principal)[1])
  return {
    world,
    store: () => store,
    host: () => host,
    core: () => core,
    link,
    wire,
    async join(clientId, { subscribe = [], principal = 'owner' } = {}) {
      const client = link(principal)
      await client.initialize(clientId, subscribe)
      return client
    },
    async restart(how = 'crash', readOnly?: string, present?: readonly Agent[]) {
      if (how === 'close') await host.close()
      store = store.reopen()
      world.advance(1000)
      core = await start(readOnly, present)
      host = hostOf(core)
    },
  }
}

/** A client that records every message and reduces the actions of its channels. */
export class Client {
  readonly peer: Peer
  readonly envelopes: Envelope[] = []
  readonly notes: { readonly method: string; readonly params: Record<string, unknown> }[] = []
  readonly states = new Map<string, unknown>()
  readonly kinds = new Map<string, keyof typeof reducers>()
  readonly #waiting = new Set<{ readonly done: () => boolean; readonly resolve: () => void }>()
  /** Answers the requests of the host. */
  answerRequest: (method: string, params: unknown) => unknown = () => null
  clientId = ''
  clientSeq = 0
  lastSeen = 0

  constructor(transport: ConstructorParameters<typeof Peer>[0]) {
    const receiver = {
      request: (method: string, params: unknown) => this.answerRequest(method, params),
      notification: (method: string, params: unknown) =>
        this.#receive(method, params as Record<string, unknown>),
    }
    this.peer = new Peer(transport, receiver, { limits: clientLimits })
    this.peer.closed.addEventListener('abort', () => this.#wake())
  }

  ask<M extends Method>(
    method: M,
    params: Omit<Params<M>, 'channel'> & { channel?: string },
  ): Promise<Result<M>> {
    const received = (result: unknown) => this.#applyResult(result)
    return this.peer.request<string>(method, { channel: 'ahp-root://', ...params }, received) as Promise<
      Result<M>
    >
  }

  async initialize(
    clientId: string,
    initialSubscriptions: readonly string[] = [],
  ): Promise<Result<'initialize'>> {
    this.clientId = clientId
    return this.ask('initialize', { protocolVersions: ['1.0.0'], clientId, initialSubscriptions })
  }

  dispatch(channel: string, action: Action & Record<string, unknown>, clientSeq = ++this.clientSeq): number {
    this.peer.notify('dispatchAction', { channel, clientSeq, action })
    return clientSeq
  }

  /** Resolves with the echo or the refusal of a dispatch. */
  async echo(clientSeq: number): Promise<Envelope> {
    const own = (envelope: Envelope) =>
      envelope.origin?.clientId === this.clientId && envelope.origin.clientSeq === clientSeq
    await this.until(() => this.envelopes.some(own))
    return this.envelopes.find(own) as Envelope
  }

  /** Resolves when a condition on the recorded messages holds. */
  until(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.add({ done, resolve }))
  }

  state(channel: string): Record<string, unknown> {
    return this.states.get(channel) as Record<string, unknown>
  }

  #receive(method: string, params: Record<string, unknown>): void {
    if (method === 'action') this.#apply(params as unknown as Envelope)
    else this.notes.push({ method, params })
    this.#wake()
  }

  #apply(envelope: Envelope): void {
    this.envelopes.push(envelope)
    this.lastSeen = Math.max(this.lastSeen, envelope.serverSeq)
    if (envelope.rejectionReason === undefined) this.fold(envelope.channel, envelope.action)
  }

  fold(channel: string, action: Action): void {
    const kind = this.kinds.get(channel)
    if (!kind) return
    const reduce = reducers[kind] as (state: unknown, action: Action) => unknown
    this.states.set(channel, reduce(this.states.get(channel), action))
  }

  /** Applies the snapshots and actions of a result as soon as the result is read, before any later message. */
  #applyResult(result: unknown): void {
    const { snapshot, snapshots, actions, serverSeq } = (result ?? {}) as {
      snapshot?: Snapshot
      snapshots?: Snapshot[]
      actions?: Envelope[]
      serverSeq?: number
    }
    for (const { resource, state, fromSeq } of [...(snapshots ?? []), ...(snapshot ? [snapshot] : [])]) {
      this.states.set(resource, state)
      this.kinds.set(resource, kindOf(state as object))
      this.lastSeen = Math.max(this.lastSeen, fromSeq)
    }
    for (const envelope of actions ?? []) this.#apply(envelope)
    this.lastSeen = Math.max(this.lastSeen, serverSeq ?? 0)
  }

  #wake(): void {
    for (const waiter of this.#waiting)
      if (waiter.done()) {
        this.#waiting.delete(waiter)
        waiter.resolve()
      }
  }
}

/** Returns the kind of a state, which snapshots do not contain. */
export function kindOf(state: object): keyof typeof reducers {
  if ('agents' in state) return 'root'
  if ('lifecycle' in state && 'chats' in state) return 'session'
  if ('turns' in state) return 'chat'
  if ('files' in state && 'status' in state) return 'changeset'
  if ('automation' in state) return 'automationRun'
  if ('canvasId' in state) return 'canvas'
  if ('entries' in state) return 'automation'
  return 'annotations' in state ? 'annotations' : 'terminal'
}
