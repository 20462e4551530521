import { checked } from '@atrium/client/shared/schemas'
import { Client } from '@atrium/client/client'
import { SessionList } from '@atrium/client/sessions'
import type { Action, Uri } from '@atrium/protocol/channel'
import { changesetMarker } from '@atrium/protocol/changeset/catalogue'
import type { Method, Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { KindName } from '@atrium/protocol/reducers'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { rootUri, sessionOfAnnotations } from '@atrium/protocol/uri'
import { Chance } from '../chance.ts'
import type { SentRequest } from '../simulate/checks/context.ts'
import { ClientView } from '../simulate/checks/client-view.ts'
import type { Message } from '../message.ts'
import type { Link } from '../simulate/link.ts'
import type { SimulatedClient } from '../simulate/simulated-client.ts'
import type { Simulation } from '../simulate/simulation.ts'
import { DispatchLedger } from './dispatch-ledger.ts'
import { describe } from './hostile-actions.ts'
import { HandleChecks } from './handle-checks.ts'
import type { Handle } from './handle-checks.ts'
import { Wire } from './wire.ts'

/** Problems that a client must not report about a correct host. */
const unexpectedProblems = new Set(['gap', 'old', 'malformed', 'stray', 'app'])

/** An app around the real client library: it acts as users do, and checks every state it is shown. */
export class App implements SimulatedClient {
  readonly id: string
  readonly clientView: ClientView
  readonly ledger: DispatchLedger
  readonly handleChecks: HandleChecks
  readonly client: Client
  readonly handles = new Set<Handle>()
  readonly list: SessionList | undefined
  wire: Wire | undefined
  /** Number of requests without an answer, plus handles without a first state. */
  waiting = 0
  timers = 0
  readonly #sim: Simulation
  readonly #chance: Chance
  /** Replies left to send. Every reply is delivered to all apps, which may reply again: without a bound they would never stop. */
  #repliesLeft = 8
  #busy = false

  constructor(sim: Simulation, id: string, version: ClientView['version'], lists: boolean) {
    this.#sim = sim
    this.id = id
    this.clientView = new ClientView(sim, id, version)
    this.#chance = new Chance(sim.plan.seed + id.charCodeAt(1))
    this.ledger = new DispatchLedger(sim, id)
    this.handleChecks = new HandleChecks(
      () => this.client,
      this.clientView,
      (rule, problem) => this.#fail(rule, problem),
    )
    const world = {
      after: (ms: number, task: () => void) => this.#after(ms, task),
      random: () => this.#chance.below(1000) / 1000,
    }
    const open = () => this.#dial()
    this.client = new Client({ clientId: id, versions: [version], world, check: checked, open })
    this.client.onProblem(({ kind, detail }) => {
      sim.trace(() => `${id} has a problem: ${kind}: ${detail}`)
      if (unexpectedProblems.has(kind))
        this.#fail('U5', `reports a problem with a correct host: ${kind}: ${detail}`)
    })
    this.client.onLink(({ state }) => {
      sim.trace(() => `${id} is ${state}`)
      // Like some real apps, this one often sends the same action right after it has connected.
      if (state === 'live' && this.#chance.oneIn(2))
        this.dispatch(rootUri, { type: 'root/configChanged', config: { 'sim.here': id } } as Action)
    })
    this.list = lists ? new SessionList(this.client) : undefined
  }

  get link(): Link | undefined {
    return this.wire?.link
  }

  /** The channels that the host delivers. */
  get subscriptions(): ReadonlyMap<Uri, unknown> {
    return this.wire?.subscriptions ?? new Map()
  }

  get open(): boolean {
    return this.client.link.state === 'live'
  }

  get closed(): boolean {
    return this.ledger.closed
  }

  has(uri: Uri): boolean {
    const seen = [...this.handles].some((handle) => handle.uri === uri && handle.confirmed !== undefined)
    return seen || (uri === rootUri && this.list !== undefined)
  }

  ask(method: string, params: SentRequest['params'] & object, answered: (message: Message) => void): void {
    this.waiting++
    const asked = this.client.ask(method as Method, { channel: rootUri, ...params } as Params<Method>)
    asked.then(
      (result) => {
        this.waiting--
        answered({ result })
      },
      (error: unknown) => {
        this.waiting--
        if (error instanceof AhpError) answered({ error })
        else if (!(error instanceof LinkClosed || this.closed))
          this.#fail('U5', `cannot read the answer to ${method}: ${String(error)}`)
      },
    )
  }

  /**
   * Dispatches over a handle if the app has one on the channel. An action that the protocol version does not know is
   * not sent.
   */
  dispatch(channel: Uri, action: Action): void {
    const { type = '' } = (action ?? {}) as Partial<Action>
    if (!this.clientView.knows({ type })) return
    this.#sim.trace(() => `${this.id} dispatches ${describe(action)} in ${channel}`)
    this.attempt(() => {
      const last = this.client.pending.at(-1)?.clientSeq ?? 0
      const handle = [...this.handles].find(({ uri }) => uri === channel)
      const outcome = handle ? handle.dispatch(action as never) : this.client.dispatch(channel, action)
      const pending = this.client.pending.find(({ clientSeq }) => clientSeq > last)
      void this.ledger.dispatched(pending?.clientSeq, channel, action, outcome)
    })
    this.look()
  }

  create(session: Uri, active: boolean, directories?: readonly Uri[]): void {
    const { link } = this
    this.#sim.unansweredCreations.set(session, () => link?.hostListens === true)
    const activeClient = { clientId: this.id, displayName: this.id, tools: [] }
    this.ask(
      'createSession',
      {
        channel: session,
        ...(active && { activeClient }),
        ...(directories && { workingDirectories: directories }),
      },
      () => {},
    )
  }

  subscribe(uri: Uri, maxLatencyMs?: number, turns?: number): void {
    if (this.closed) return
    if (turns !== undefined) this.clientView.windowed.add(uri)
    const delivery = maxLatencyMs === undefined ? {} : { delivery: { maxLatencyMs } }
    const view = turns === undefined ? {} : { view: { turns } }
    this.#sim.trace(() => `${this.id} takes a handle on ${uri}`)
    this.attempt(() => {
      const handle: Handle = this.client.subscribe(kindOf(uri), uri, { ...delivery, ...view })
      this.handles.add(handle)
      this.handleChecks.notified(handle)
      handle.onChange(() => {
        if (this.handles.has(handle)) this.#onChange(handle)
        else this.#fail('U3', `is notified about ${uri} by a handle that it released`)
      })
      this.waiting++
      const settled = () => void this.waiting--
      handle.ready().then(settled, settled)
    })
    this.look()
  }

  release(handle: Handle): void {
    this.#sim.trace(() => `${this.id} releases a handle on ${handle.uri}`)
    this.handles.delete(handle)
    this.attempt(() => handle.release())
    const followed = [...this.handles].some(({ uri }) => uri === handle.uri)
    if (!followed && !(this.list && handle.uri === rootUri)) this.handleChecks.forget(handle.uri)
    this.look()
  }

  /** Requests the turns before those that the handle has. */
  fetch({ uri, state }: Handle): void {
    const { turnsNextCursor: cursor } = (state ?? {}) as { readonly turnsNextCursor?: string }
    if (cursor !== undefined)
      this.ask('fetchTurns', { channel: uri, cursor } as SentRequest['params'], () => {})
  }

  /** Closes the client for good. */
  close(): void {
    this.ledger.closed = true
    this.attempt(() => this.client.close())
    this.look()
  }

  look(): void {
    for (const handle of this.handles) this.#look(handle)
  }

  /** Checks what the handle shows. Sometimes also replies at once, inside the notification. */
  #onChange(handle: Handle): void {
    this.handleChecks.notified(handle)
    this.#look(handle)
    if (this.#busy || this.#repliesLeft === 0 || handle.kind !== 'chat' || !this.#chance.oneIn(12)) return
    this.#busy = true
    this.#repliesLeft--
    const draft = { text: String(this.#sim.name()), origin: { kind: 'user' } }
    this.dispatch(handle.uri, { type: 'chat/draftChanged', draft } as Action)
    this.#busy = false
  }

  #look(handle: Handle): void {
    const reopened = [...this.handles].some(({ uri, status }) => uri === handle.uri && status !== 'gone')
    this.attempt(() => this.handleChecks.check(handle, reopened))
    const { uri, status, seq, confirmed } = handle
    if (status === 'open' && seq !== undefined && !this.clientView.windowed.has(uri))
      this.#sim.past?.add(uri, seq, confirmed)
    if (handle.status === 'gone' && !this.closed && !this.ledger.denied.has(handle.uri))
      this.#fail('U3', `reports ${handle.uri} as gone, but the host did not say so`)
  }

  /** Checks at rest that every visible change was notified. */
  check(): void {
    this.look()
    for (const handle of this.handles) this.handleChecks.checkNotified(handle)
  }

  /** Runs a task. It is a violation if the client library throws. */
  attempt(task: () => void): void {
    try {
      task()
    } catch (error) {
      this.#fail('U1', `threw at its app: ${(error as Error).stack}`)
    }
  }

  /** Opens a connection: it may take time, and fails while the host is down. */
  async #dial(): Promise<Transport> {
    const ms = this.#chance.oneIn(3) ? this.#chance.below(2000) : 0
    if (ms > 0) await new Promise<void>((resolve) => this.#sim.clock.later(ms, resolve))
    if (!this.#sim.up) throw new Error('connection refused')
    const wire = new Wire(this.#sim, this)
    this.wire = wire
    this.#sim.connect(wire.link)
    return wire.transport
  }

  #after(ms: number, task: () => void): () => void {
    this.timers++
    const callOff = this.#sim.clock.later(ms, () => {
      over()
      task()
    })
    let over = () => {
      this.timers--
      over = () => {}
    }
    return () => {
      over()
      callOff()
    }
  }

  #fail(rule: string, problem: string): void {
    this.#sim.fail(rule, `${this.id} ${problem}`)
  }
}

function kindOf(uri: Uri): KindName {
  if (uri === rootUri) return 'root'
  if (uri.includes(changesetMarker)) return 'changeset'
  if (sessionOfAnnotations(uri) !== undefined) return 'annotations'
  if (uri.startsWith('ahp-chat:')) return 'chat'
  return uri.startsWith('ahp-terminal:') ? 'terminal' : 'session'
}
