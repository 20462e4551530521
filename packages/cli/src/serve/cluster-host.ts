import { ClusterNode } from '@atrium/host/cluster'
import type { NodeParts } from '@atrium/host/cluster'
import type { Host } from '@atrium/host'
import { DiskFull } from '@atrium/host/ports/log'
import type { NodeMetrics } from './metrics/metrics.ts'
import { CommandError, exits } from '../terminal/exit.ts'

/** A host as the server uses it, whether it is alone or one of several nodes. */
export interface ServedHost {
  readonly connect: Host['connect']
  readonly devices: Host['devices']
  readonly offer: Host['offer']
  metrics(): NodeMetrics
  /** Whether clients are accepted. */
  ready(): boolean
  /** `owner` or `standby`; absent at a host that is alone. */
  readonly role?: () => string
  /** Why `/readyz` does not call an owner ready, although it may accept clients; undefined if it does. */
  readonly trouble?: () => string | undefined
  close(): Promise<void>
}

export interface ClusterHostOptions extends NodeParts {
  /** Whether the node waits until it can take over. Otherwise it fails if another node stays the owner. */
  readonly standby: boolean
  /** The place of the store, for the error. */
  readonly place: string
}

/** Returns the host of a node that shares its store with others. Resolves when the node is the owner, or a standby. */
export async function clusterHost({ standby, place, ...parts }: ClusterHostOptions): Promise<ServedHost> {
  /** The start of the node. After it, a failure is the caller's. */
  const start: Start = { over: false, noticed() {} }
  const node = new ClusterNode({
    ...parts,
    changed(role) {
      parts.changed?.(role)
      start.noticed()
    },
    // A full disk of the database must not end one node after the other. A start says so.
    mayPass: (error) => start.over && error instanceof DiskFull,
    failed(error) {
      if (start.over) return parts.failed(error)
      start.failure = { error }
      start.noticed()
    },
  })
  const served: ServedHost = {
    connect: (...given) => node.connect(...given),
    // A standby has not read the devices. The server answers with 503 before it asks for them.
    devices: {
      find: (hash) => node.host?.devices.find(hash),
      keyOf: (id) => node.host?.devices.keyOf(id),
      redeem: async (...given) => node.host?.devices.redeem(...given),
      browserCode: () => node.host?.devices.browserCode() ?? '',
    },
    // A standby has nobody to tell. The next host gets the present agents when it is opened.
    offer: (agents) => node.host?.offer(agents),
    metrics: () => ({
      host: node.host?.metrics(),
      node: {
        owner: node.role === 'owner',
        epoch: node.epoch ?? node.lease?.epoch,
        leaseMs: node.leaseLeft,
      },
    }),
    ready: () => node.accepts,
    role: () => (node.accepts ? 'owner' : 'standby'),
    trouble: () => node.trouble && `owner: ${node.trouble}`,
    close: () => alive(() => node.close()),
  }
  return alive(async () => {
    try {
      await node.start()
      if (start.failure) throw start.failure.error
      // The lease of a host that has crashed ends by itself.
      if (!standby && node.role !== 'owner') await untilOwner(node, start, { ...parts, place })
    } catch (error) {
      await node.close().catch(() => {})
      throw error
    }
    start.over = true
    return served
  })
}

/** Keeps the process alive until some work has ended: neither the watchdog nor a timer of the host does that. */
async function alive<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, 2 ** 30)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

interface Start {
  over: boolean
  failure?: { readonly error: unknown }
  noticed: () => void
}

/**
 * Waits until a node is the owner. Rejects if another node keeps the lease for longer than a crashed owner could. A node that has
 * the lease and is still opening its store, which may take long, is waited for.
 */
async function untilOwner(
  node: ClusterNode,
  start: Start,
  { world, lease, place }: Pick<ClusterHostOptions, 'world' | 'lease' | 'place'>,
): Promise<void> {
  let late = false
  let cancel = () => {}
  try {
    await new Promise<void>((resolve, reject) => {
      start.noticed = () => {
        if (start.failure) reject(start.failure.error)
        else if (node.role === 'owner') resolve()
        else if (late && node.role === 'standby') reject(notOwner(place, node.lease?.node))
      }
      cancel = world.later(lease.ms * 1.5, () => {
        late = true
        start.noticed()
      })
    })
  } finally {
    cancel()
    start.noticed = () => {}
  }
}

/** The error of a node that may not be a standby. Without an `owner`, it lost its database while it opened its store. */
function notOwner(place: string, owner: string | undefined): CommandError {
  if (owner === undefined)
    return new CommandError(
      `The database of the store at ${place} cannot be reached; start this node again when it can.`,
    )
  return new CommandError(
    `The store at ${place} is in use by the node ${owner}; start this one with --standby to let it take over when that one ends.`,
    exits.inUse,
  )
}
