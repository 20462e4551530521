import type { Client } from '@atrium/client/client'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import type { HostOptions } from '../link/connect.ts'
import { requiredLogins } from '../link/logins.ts'
import { printList } from '../render/table.ts'
import { withClient } from '../link/with-client.ts'
import { sanitize, onOneLine, output } from '../terminal/output.ts'
import type { OutputOptions, Style } from '../terminal/output.ts'

/** `atrium agents`: lists the agents, their models, and the sign-ins that they require. */
export function agents(flags: HostOptions & OutputOptions & { readonly check?: boolean }): Promise<void> {
  const out = output(flags)
  return withClient(flags, async (client) => {
    const root = client.subscribe('root', rootUri)
    const { agents: offered } = await root.ready()
    if (flags.check) await check(client, offered)
    const { agents: all } = root.state ?? { agents: offered }
    printList(out, all, {
      document: (agent) => ({ ...agent, loginRequired: requiredLogins(agent).length > 0 }),
      row: (agent) => row(agent, out.style),
      empty: 'This host has no agents.',
    })
  })
}

/** Asks each agent for its config, which starts its program. The host then updates the list of agents. */
async function check(client: Client, all: readonly AgentInfo[]): Promise<void> {
  await Promise.all(
    all.map(({ provider }) => client.ask('resolveSessionConfig', { channel: rootUri, provider, config: {} })),
  )
}

/** Whether all models of the agent lack an API key. */
function isWithoutKey({ models }: AgentInfo): boolean {
  return models.length > 0 && models.every(({ policyState }) => policyState === 'unconfigured')
}

function row(agent: AgentInfo, { cyan, yellow, dim }: Style): readonly string[] {
  const logins = requiredLogins(agent).map(onOneLine).join(', ')
  const models = agent.models.slice(0, maxModels).map(({ id }) => sanitize(id))
  const more = agent.models.length - models.length
  const shown = [...models, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
  return [
    cyan(sanitize(agent.provider)),
    onOneLine(agent.displayName),
    logins !== '' ? yellow(`login: ${logins}`) : isWithoutKey(agent) ? yellow('no key') : dim('no login'),
    shown || dim(onOneLine(agent.description)),
  ]
}

const maxModels = 6
