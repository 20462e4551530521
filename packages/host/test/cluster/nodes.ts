import { memoryStore } from '@atrium/adapters/store/memory'
import { LeaseRow } from '@atrium/adapters/store/memory-lease'
import { pair } from '@atrium/protocol/rpc/pair'
import { ClusterNode } from '../../src/cluster/cluster-node.ts'
import type { NodeParts, NodeRole, OwnerTerm } from '../../src/cluster/cluster-node.ts'
import { createHost } from '../../src/host.ts'
import { StoreAway } from '../../src/ports/lease.ts'
import type { Lease } from '../../src/ports/lease.ts'
import type { HostPorts } from '../../src/open.ts'
import { untilIdle } from '../held-flushes.ts'
import { Client, silentAgent } from '../test-host.ts'
import { testWorld } from '../world.ts'

export const leaseMs = 10_000

/** A node of the test with what it did and how a test disturbs it. */
export interface TestNode {
  readonly node: ClusterNode
  readonly roles: NodeRole[]
  /** The calls of the lease and of the effect timer, in order. */
  readonly calls: string[]
  /** Set: requests to the lease fail. */
  cut: boolean
  /** Set: the watchdog does not answer. */
  silent: boolean
  /** Set: a flush does not end. */
  held: boolean
  /** Set: a flush fails, because the database was away for too long. */
  away: boolean
  /** Set: a flush finds the disk of the database full. */
  full: boolean
  release(): void
  link(): { readonly client: Client; readonly closed: AbortSignal }
  join(clientId: string, subscribe?: readonly string[]): Promise<Client>
}

/** Nodes on one store in memory, with one clock. */
export function testCluster(ports: Partial<HostPorts> = {}) {
  const world = testWorld()
  const row = new LeaseRow(leaseMs, world.now)
  const disk = memoryStore()
  /** The terms of all owners so far. */
  const terms: OwnerTerm[] = []

  const add = (name: string, parts: Partial<NodeParts> = {}, own: Partial<HostPorts> = {}): TestNode => {
    const calls: string[] = []
    const roles: NodeRole[] = []
    const flushes: (() => void)[] = []
    let marks = 0
    const open: NodeParts['open'] = (term) => {
      terms.push(term)
      const { epoch, refusal, failed } = term
      const soon = (task: () => void) => (all.held ? void flushes.push(task) : queueMicrotask(task))
      const fence = () => {
        if (all.away) throw new StoreAway('gave up after 30 seconds')
        row.fence(epoch)
      }
      const store = disk.share({ fence, soon, full: () => all.full })
      return createHost({ world, agents: [silentAgent], ...ports, ...own, store, refusal, fatal: failed })
    }
    const lease = cuttable(row.leaseOf({ node: name, url: `ws://${name}/` }), calls, () => all.cut)
    const effects: NodeParts['effects'] = {
      mark: () => {
        calls.push('mark')
        return all.silent ? new Promise(() => {}) : Promise.resolve(++marks)
      },
      confirm: (mark) => void calls.push(`confirm ${marks - mark}`),
      expire: () => void calls.push('expire'),
      stop: () => void calls.push('stop'),
    }
    const changed = (role: NodeRole) => void roles.push(role)
    const failed = (error: unknown) => void calls.push(`failed: ${String(error)}`)
    const node = new ClusterNode({ lease, world, effects, open, changed, failed, ...parts })
    const link = () => {
      const [near, far] = pair()
      node.connect(near, 'owner')
      return { client: new Client(far), closed: far.closed }
    }
    const all: TestNode = {
      node,
      roles,
      calls,
      cut: false,
      silent: false,
      held: false,
      away: false,
      full: false,
      release() {
        all.held = false
        for (const task of flushes.splice(0)) task()
      },
      link,
      async join(clientId, subscribe = []) {
        const { client } = link()
        await client.initialize(clientId, subscribe)
        return client
      },
    }
    return all
  }

  return {
    world,
    row,
    disk,
    terms,
    add,
    /** Lets time pass in small parts, so that timers and answers take turns. */
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 250) {
        world.advance(Math.min(250, left))
        await untilIdle()
      }
    },
  }
}

/** A lease whose requests are recorded, and fail while the node is cut off. */
function cuttable(lease: Lease, calls: string[], isCut: () => boolean): Lease {
  const asked = async <T>(name: string, ask: () => Promise<T>): Promise<T> => {
    calls.push(name)
    if (isCut()) throw new Error('the database cannot be reached')
    return ask()
  }
  return {
    ms: lease.ms,
    acquire: () => asked('acquire', () => lease.acquire()),
    renew: (epoch) => asked('renew', () => lease.renew(epoch)),
    release: (epoch) => asked('release', () => lease.release(epoch)),
    read: () => (isCut() ? Promise.reject(new Error('the database cannot be reached')) : lease.read()),
    close: () => lease.close(),
  }
}
