import { part } from '../kernel/part.ts'
import type { Agent } from '../ports/agent.ts'
import { agentsOf, resolveSessionConfig, sessionConfigCompletions } from './agents.ts'

interface Ports {
  readonly agents?: readonly Agent[]
}

/** The agents on offer. */
export const agents = part<{ list: readonly Agent[] }, Ports>({
  name: 'agents',
  key: agentsOf,
  open: (_, { agents: list = [] }) => ({ list }),
  rules: {
    methods: {
      resolveSessionConfig: (core, _, params) => resolveSessionConfig(core, params),
      sessionConfigCompletions: (core, _, params) => sessionConfigCompletions(core, params),
    },
  },
})
