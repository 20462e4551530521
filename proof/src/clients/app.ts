import { checked } from '@atrium/client/shared/schemas'
import { Client } from '@atrium/client/client'
import { SessionList } from '@atrium/client/sessions'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { Method, Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { KindName } from '@atrium/protocol/reducers'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { rootUri } from '@atrium/protocol/uri'
import { Chance } from '../chance.ts'
import type { Question } from '../simulate/audit.ts'
import { Eye } from '../simulate/eye.ts'
import type { Link, Message } from '../simulate/link.ts'
import type { Person } from '../simulate/person.ts'
import type { Simulation } from '../simulate/simulation.ts'
import { Account } from './account.ts'
import { wordsOf } from './hostile.ts'
import { Sights } from './sights.ts'
import type { Handle } from './sights.ts'
import { Wire } from './wire.ts'

/** Of these a host that does all it should gives no cause. */
const neverSaid = new Set(['gap', 'old', 'malformed', 'stray', 'app'])

/** An app around a real client: it does what people do, believes nothing, and looks whenever it is told to. */
export class App implements Person {
  readonly id: string
  readonly eye: Eye
  readonly account: Account
  readonly sights: Sights
  readonly client: Client
  readonly handles = new Set<Handle>()
  readonly list: SessionList | undefined
  wire: Wire | undefined
  /** What it asked and has not been answered, and those who wait for a first state. */
  waiting = 0
  timers = 0
  readonly #sim: Simulation
  readonly #chance: Chance
  /** Each answer is told to everyone, and answered: without a bound they would never stop. */
  #answers = 8
  #busy = false

  constructor(sim: Simulation, id: string, version: Eye['version'], lists: boolean) {
    this.#sim = sim
    this.id = id
    this.eye = new Eye(version)
    this.#chance = new Chance(sim.plan.seed + id.charCodeAt(1))
    this.account = new Account(sim, id)
    this.sights = new Sights(
      () => this.client,
      this.eye,
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
      if (neverSaid.has(kind)) this.#fail('U5', `reports a correct host: ${kind}: ${detail}`)
    })
    this.client.onLink(({ state }) => {
      sim.trace(() => `${id} is ${state}`)
      // As some do whenever they are connected.
      if (state === 'live' && this.#chance.oneIn(2))
        this.dispatch(rootUri, { type: 'root/configChanged', config: { 'sim.here': id } } as Action)
    })
    this.list = lists ? new SessionList(this.client) : undefined
  }

  get link(): Link | undefined {
    return this.wire?.link
  }

  get open(): boolean {
    return this.client.link.state === 'live'
  }

  get closed(): boolean {
    return this.account.closed
  }

  has(uri: Uri): boolean {
    const seen = [...this.handles].some((handle) => handle.uri === uri && handle.confirmed !== undefined)
    return seen || (uri === rootUri && this.list !== undefined)
  }

  ask(method: string, params: Question['params'] & object, answered: (message: Message) => void): void {
    this.waiting++
    const asked = this.client.ask(method as Method, { channel: rootUri, ...params } as Params<Method>)
    asked.then(
      (result) => {
        this.waiting--
        answered({ result })
      },
      (error: unknown) => {
        this.waiting--
        if (!(error instanceof AhpError || error instanceof LinkClosed || this.closed))
          this.#fail('U5', `cannot read the answer to ${method}: ${String(error)}`)
      },
    )
  }

  /** Over a handle where there is one. What its generation has no name for it does not say. */
  dispatch(channel: Uri, action: Action): void {
    const { type = '' } = (action ?? {}) as Partial<Action>
    if (!this.eye.knows({ type })) return
    this.#sim.trace(() => `${this.id} wishes ${wordsOf(action)} in ${channel}`)
    this.attempt(() => {
      const last = this.client.pending.at(-1)?.clientSeq ?? 0
      const handle = [...this.handles].find(({ uri }) => uri === channel)
      const outcome = handle ? handle.dispatch(action as never) : this.client.dispatch(channel, action)
      const wish = this.client.pending.find(({ clientSeq }) => clientSeq > last)
      void this.account.dispatched(wish?.clientSeq, channel, action, outcome)
    })
    this.look()
  }

  create(session: Uri, active: boolean, directories?: readonly Uri[]): void {
    const { link } = this
    this.#sim.owed.set(session, () => link?.hears === true)
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
    if (turns !== undefined) this.eye.narrow.add(uri)
    const delivery = maxLatencyMs === undefined ? {} : { delivery: { maxLatencyMs } }
    const view = turns === undefined ? {} : { view: { turns } }
    this.#sim.trace(() => `${this.id} takes a handle on ${uri}`)
    this.attempt(() => {
      const handle: Handle = this.client.subscribe(kindOf(uri), uri, { ...delivery, ...view })
      this.handles.add(handle)
      this.sights.told(handle)
      handle.onChange(() => {
        if (this.handles.has(handle)) this.#told(handle)
        else this.#fail('U3', `is told of ${uri} over a handle that it released`)
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
    if (!followed && !(this.list && handle.uri === rootUri)) this.sights.forget(handle.uri)
    this.look()
  }

  /** The turns before those that it has. */
  fetch({ uri, state }: Handle): void {
    const { turnsNextCursor: cursor } = (state ?? {}) as { readonly turnsNextCursor?: string }
    if (cursor !== undefined) this.ask('fetchTurns', { channel: uri, cursor } as Question['params'], () => {})
  }

  /** For good. */
  close(): void {
    this.account.closed = true
    this.attempt(() => this.client.close())
    this.look()
  }

  look(): void {
    for (const handle of this.handles) this.#look(handle)
  }

  /** Some answer what they see in the moment they see it. */
  #told(handle: Handle): void {
    this.sights.told(handle)
    this.#look(handle)
    if (this.#busy || this.#answers === 0 || handle.kind !== 'chat' || !this.#chance.oneIn(12)) return
    this.#busy = true
    this.#answers--
    const draft = { text: String(this.#sim.name()), origin: { kind: 'user' } }
    this.dispatch(handle.uri, { type: 'chat/draftChanged', draft } as Action)
    this.#busy = false
  }

  #look(handle: Handle): void {
    this.attempt(() => this.sights.look(handle))
    if (handle.status === 'gone' && !this.closed && !this.account.denied.has(handle.uri))
      this.#fail('U3', `calls ${handle.uri} gone, and nobody said so`)
  }

  /** When nothing goes on: all that it shows, it has been told of. */
  judge(): void {
    this.look()
    for (const handle of this.handles) this.sights.judgeTold(handle)
  }

  /** Nothing that a client does is thrown at its app. */
  attempt(task: () => void): void {
    try {
      task()
    } catch (error) {
      this.#fail('U1', `throws at its app: ${(error as Error).stack}`)
    }
  }

  /** A network may take its time, or find nobody. */
  async #dial(): Promise<Transport> {
    const ms = this.#chance.oneIn(3) ? this.#chance.below(2000) : 0
    if (ms > 0) await new Promise<void>((resolve) => this.#sim.clock.later(ms, resolve))
    if (!this.#sim.up) throw new Error('nobody is there')
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
  if (uri.startsWith('ahp-chat:')) return 'chat'
  return uri.startsWith('ahp-terminal:') ? 'terminal' : 'session'
}
