import { part } from '../kernel/part.ts'
import type { Agent } from '../ports/agent.ts'
import { agentsOf } from './agents.ts'

interface Ports {
  readonly agents?: readonly Agent[]
}

/** The agents on offer. */
export const agents = part<{ list: readonly Agent[] }, Ports>({
  name: 'agents',
  key: agentsOf,
  open: (_, { agents: list = [] }) => ({ list }),
})
