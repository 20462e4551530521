import { createHost } from '@atrium/host'
import { ClusterNode } from '@atrium/host/cluster'
import type { Agent } from '@atrium/host/ports/agent'
import type { EffectTimer } from '@atrium/host/ports/effect-timer'
import type { Lease } from '@atrium/host/ports/lease'
import type { World } from '@atrium/host/ports/world'
import type { Chance } from '../chance.ts'
import type { Clock } from '../simulate/world.ts'
import type { Database } from './database.ts'
import { Network } from './network.ts'
import { remoteStore } from './remote-store.ts'

/** A process that an agent of a node has started. It runs on while the node is paused. */
interface Effect {
  readonly epoch: number
  readonly end: (how: 'done' | 'killed') => void
}

export interface NodeOptions {
  readonly name: string
  readonly clock: Clock
  readonly database: Database
  readonly chance: Chance
  /** The difference between the wall clock of the node and that of the database, in milliseconds. */
  readonly offset: number
  readonly trace: (line: string) => void
  readonly fail: (rule: string, problem: string) => void
}

/** A real cluster node of the host, on a simulated machine that can be paused, cut off from the database, or killed. */
export class SimulatedNode {
  readonly name: string
  readonly node: ClusterNode
  readonly network: Network
  readonly #options: NodeOptions
  readonly #effects = new Set<Effect>()
  readonly #held: (() => void)[] = []
  #epoch = 0
  /** The end of the count of the last confirmed mark. After it no process is started. */
  #mayStartUntil = 0
  #paused = false
  #dead = false
  #ids = 0

  constructor(options: NodeOptions) {
    const { name, clock, database, chance, fail } = options
    this.name = name
    this.#options = options
    this.network = new Network(clock, chance.branch(), (task) => this.#atNode(task))
    this.node = new ClusterNode({
      lease: this.#lease(),
      world: this.#world,
      effects: this.#effectTimer(),
      open: ({ epoch, refusal, failed }) => {
        this.#epoch = epoch
        const store = remoteStore(database, this.network, epoch)
        const fatal = (error: unknown) => {
          if (!failed(error)) fail('L42', `the store of ${name} failed: ${String(error)}`)
        }
        return createHost({ store, world: this.#world, agents: [this.#agent], refusal, fatal })
      },
      warm: async () => void (await database.list('')),
      changed: (role) => options.trace(`${name} is ${role}`),
      failed: (error) => fail('L42', `${name} could not be opened: ${String(error)}`),
    })
    this.#atNode(() => void this.node.start().catch(() => {}))
  }

  get paused(): boolean {
    return this.#paused
  }

  /** The epochs of the processes that run now. */
  get effects(): readonly number[] {
    return [...this.#effects].map(({ epoch }) => epoch)
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    for (const task of this.#held.splice(0)) task()
  }

  /** Kills the node. Its watchdog ends the processes at once. */
  kill(): void {
    this.#dead = true
    this.#killAll()
  }

  /** Ends the processes that have done their work. */
  endSome(chance: Chance): void {
    for (const effect of this.#effects) if (chance.oneIn(15)) this.#atNode(() => effect.end('done'))
  }

  #atNode(task: () => void): void {
    if (this.#dead) return
    if (this.#paused) this.#held.push(() => this.#atNode(task))
    else task()
  }

  #killAll(): void {
    for (const effect of this.#effects) {
      this.#effects.delete(effect)
      this.#atNode(() => effect.end('killed'))
    }
  }

  #lease(): Lease {
    const { name, database, clock, offset } = this.#options
    const wall = () => clock.elapsed + offset
    const lease = database.leaseFor({ node: name, wall })
    const { network } = this
    return {
      ms: lease.ms,
      acquire: () => network.request(() => lease.acquire()),
      renew: (epoch) => network.request(() => lease.renew(epoch)),
      release: (epoch) => network.request(() => lease.release(epoch)),
      read: () => network.request(() => lease.read()),
      close: async () => {},
    }
  }

  /** The watchdog of the node. Its clock does not stop when the node is paused. */
  #effectTimer(): EffectTimer {
    const { clock, database } = this.#options
    const ms = database.leaseMs * 0.75
    let marks = 0
    let pending: { readonly mark: number; readonly ends: number; readonly cancel: () => void } | undefined
    let cancelHeld = () => {}
    const drop = () => {
      pending?.cancel()
      cancelHeld()
      pending = undefined
      this.#mayStartUntil = 0
    }
    // A mark from before the end of a count is too old to be confirmed.
    const expire = () => {
      drop()
      this.#killAll()
    }
    return {
      mark: async () => {
        pending?.cancel()
        const mark = ++marks
        pending = { mark, ends: clock.elapsed + ms, cancel: clock.later(ms, expire) }
        return mark
      },
      confirm: (mark) => {
        if (pending?.mark !== mark) return
        cancelHeld()
        cancelHeld = pending.cancel
        this.#mayStartUntil = pending.ends
        pending = undefined
      },
      expire,
      stop: drop,
    }
  }

  get #agent(): Agent {
    return {
      info: { provider: 'mock', displayName: 'Mock', description: '', models: [] },
      resumes: false,
      // The agent says nothing: its process is the effect.
      run: (_chat, signal) => this.#process(signal),
    }
  }

  async *#process(signal: AbortSignal): AsyncGenerator<never> {
    if (this.#options.clock.elapsed >= this.#mayStartUntil) throw new Error('the lease was not renewed')
    const how = await new Promise<'done' | 'killed'>((resolve) => {
      const effect: Effect = {
        epoch: this.#epoch,
        end: (ended) => {
          this.#effects.delete(effect)
          resolve(ended)
        },
      }
      this.#effects.add(effect)
      signal.addEventListener('abort', () => effect.end('done'), { once: true })
    })
    if (how === 'killed') throw new Error('the agent was killed')
    yield* []
  }

  get #world(): World {
    const { clock, name, offset, trace } = this.#options
    return {
      now: () => Date.parse('2026-01-01T00:00:00Z') + clock.elapsed + offset,
      id: () => `${name}-${++this.#ids}`,
      soon: (task) => queueMicrotask(() => this.#atNode(task)),
      later: (ms, task) => clock.later(ms, () => this.#atNode(task)),
      report: (event, detail) =>
        trace(`${name}: ${event} ${detail instanceof Error ? detail.message : JSON.stringify(detail ?? '')}`),
    }
  }
}
