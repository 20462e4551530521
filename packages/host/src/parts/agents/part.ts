import type { Core } from '../../kernel/core.ts'
import { part } from '../../kernel/part.ts'
import type { Agent } from '../../ports/agent.ts'
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
    reports: (core) => ({ agents: agentMessages(core) }),
    methods: {
      resolveSessionConfig: (core, _, params) => resolveSessionConfig(core, params),
      sessionConfigCompletions: (core, _, params) => sessionConfigCompletions(core, params),
    },
  },
})

/** The last lines of diagnostic output of each agent. */
function agentMessages(core: Core): readonly object[] {
  return agentsOf(core).list.flatMap(({ info, lastWords = [] }) =>
    lastWords.length > 0 ? [{ provider: info.provider, lastWords }] : [],
  )
}
