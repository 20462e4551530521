import { catalogOf } from './catalog/catalog.ts'
import { devicesOf } from './parts/devices/devices.ts'
import { deviceRevoked } from '@atrium/protocol/root/device'
import type { Device } from '@atrium/protocol/root/device'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { setAgents } from './parts/agents/agents.ts'
import { Connection } from './connection/connection.ts'
import type { Core } from './kernel/core.ts'
import type { HostMetrics } from './kernel/metrics.ts'
import type { Devices } from './parts/devices/devices.ts'
import { ConnectionCount } from './connection/connection-count.ts'
import { FairQueue } from './connection/queues/fair-queue.ts'
import { UnfinishedRequests } from './connection/queues/unfinished-requests.ts'
import type { Agent } from './ports/agent.ts'
import { withTimeout } from './kernel/timeout.ts'
import { openCore } from './open.ts'
import type { HostPorts } from './open.ts'

export interface Host {
  /**
   * Takes over a connection that was authenticated. The connection acts for this principal, with the role of the
   * device. Without a device it may do everything.
   */
  connect(transport: Transport, principal: string, device?: Device): void
  /** The devices that may connect. */
  readonly devices: Pick<Devices, 'find' | 'redeem' | 'keyOf' | 'browserCode'>
  /** Replaces the list of agents. If the agents are the same as before, publishes what has changed about them. */
  offer(agents: readonly Agent[]): void
  metrics(): HostMetrics
  /** Closes every link, then waits until everything that the host accepted is durable. */
  close(): Promise<void>
  /**
   * Closes every link for this reason and ends all work, because another node writes the store now. Nothing is written any
   * more; what was not durable was not confirmed to anybody.
   */
  abandon(reason: string): Promise<void>
}

export async function createHost(ports: HostPorts): Promise<Host> {
  return hostOf(await openCore(ports))
}

/** Returns the public interface of an open core. */
export function hostOf(core: Core): Host {
  const connections = new Set<Connection>()
  const connectionCount = new ConnectionCount(core.limits.links)
  const fair = new FairQueue(core.world, core.limits, core.log)
  const queues = { fair, unfinished: new UnfinishedRequests() }
  let closing = false
  /** Closes every link and ends everything that runs, except for the log. */
  const endWork = async (reason: string) => {
    closing = true
    core.sealing.end()
    for (const connection of connections) connection.close(1001, reason)
    await stopJobs(core)
    await core.parts.close()
  }
  return {
    devices: devicesOf(core),
    connect(transport, principal, device) {
      if (closing) return transport.close(1001, 'the host is going away')
      if (!connectionCount.enter(principal, transport.closed))
        return transport.close(1013, 'this principal has too many links; try again later')
      const connection = new Connection(core, transport, { principal, device }, queues)
      // The device may have been revoked since the connection was authenticated.
      if (device && !devicesOf(core).linkOpened(device.id, connection))
        return connection.close(1008, deviceRevoked)
      if (device)
        transport.closed.addEventListener('abort', () => devicesOf(core).linkClosed(device.id, connection))
      connections.add(connection)
      transport.closed.addEventListener('abort', () => connections.delete(connection), { once: true })
    },
    metrics: () => ({
      actions: core.metrics.actions,
      echo: core.metrics.echo,
      backlog: core.log.backlog,
      committedSeq: core.log.committedSeq,
      links: connections.size,
      sessions: catalogOf(core).announced,
    }),
    offer(agents) {
      if (!closing) setAgents(core, agents)
    },
    async close() {
      await endWork('the host is going away')
      await core.log.settled()
      core.log.end()
      await core.store.log.close()
    },
    async abandon(reason) {
      core.log.end()
      await endWork(reason)
      // The database may not answer, and nothing waits to be written.
      const closed = core.store.log.close().catch(() => {})
      await withTimeout(core.world, core.limits.endMs, closed, () => {})
    },
  }
}

/** Stops all jobs. A job that does not stop in time is abandoned, because the host must end when it is told to. */
function stopJobs({ world, limits, jobs }: Core): Promise<void> {
  return withTimeout(world, limits.endMs, jobs.stopAll(), () => {})
}
