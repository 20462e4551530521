import type { Transport } from '@atrium/protocol/rpc/transport'
import { setAgents } from './agents/agents.ts'
import { Connection } from './connection/connection.ts'
import type { Core } from './core/core.ts'
import { ConnectionCount } from './connection/connection-count.ts'
import type { Agent } from './ports/agent.ts'
import { openCore } from './open.ts'
import type { HostPorts } from './open.ts'

export interface Host {
  /** A link that the gate has let through, and as whom. */
  connect(transport: Transport, principal: string): void
  /** Others can be talked to from now on, or they have more to say of themselves. */
  offer(agents: readonly Agent[]): void
  /** Ends every link, then waits until all that was accepted is durable. */
  close(): Promise<void>
}

export async function createHost(ports: HostPorts): Promise<Host> {
  return hostOf(await openCore(ports))
}

/** The door to a core that is open. */
export function hostOf(core: Core): Host {
  const connections = new Set<Connection>()
  const crowd = new ConnectionCount(core.limits.links)
  let closing = false
  return {
    connect(transport, principal) {
      if (closing) return transport.close(1001, 'the host is going away')
      if (!crowd.enter(principal, transport.closed))
        return transport.close(1013, 'this principal has too many links; try again later')
      const connection = new Connection(core, transport, principal)
      connections.add(connection)
      transport.closed.addEventListener('abort', () => connections.delete(connection), { once: true })
    },
    offer(agents) {
      if (!closing) setAgents(core, agents)
    },
    async close() {
      closing = true
      for (const connection of connections) connection.close(1001, 'the host is going away')
      await inTime(core, core.jobs.stopAll())
      await core.log.settled()
      core.log.end()
      await core.store.log.close()
    },
  }
}

/** What was started is not waited for longer than a moment: whoever stops a host wants it to stop. */
async function inTime({ world, limits }: Core, task: Promise<void>): Promise<void> {
  let undo = () => {}
  const late = new Promise<void>((resolve) => {
    undo = world.later(limits.endMs, resolve)
  })
  await Promise.race([task, late])
  undo()
}
