import type { Client } from '@atrium/client/client'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Whereabouts } from '../link/connect.ts'
import { loginsOf } from '../link/logins.ts'
import { table } from '../render/table.ts'
import { trip } from '../link/with-client.ts'
import { harmless, onOneLine, voice } from '../terminal/output.ts'
import type { Manners, Style } from '../terminal/output.ts'

/** `atrium agents`: who can be talked to here, with what, and whether somebody must sign in first. */
export function agents(flags: Whereabouts & Manners & { readonly check?: boolean }): Promise<void> {
  const { tell, note, json, style } = voice(flags)
  return trip(flags, async (client) => {
    const root = client.subscribe('root', rootUri)
    const { agents: offered } = await root.ready()
    if (flags.check) await check(client, offered)
    const { agents: all } = root.state ?? { agents: offered }
    if (json) for (const agent of all) tell({ ...agent, loginRequired: loginsOf(agent).length > 0 }, () => '')
    else if (all.length > 0) tell({}, () => table(all.map((agent) => row(agent, style))))
    else note('This host has no agents.')
  })
}

/** Each is asked what it can, and so is started if need be: the host tells everyone what is new in that. */
async function check(client: Client, all: readonly AgentInfo[]): Promise<void> {
  await Promise.all(
    all.map(({ provider }) => client.ask('resolveSessionConfig', { channel: rootUri, provider, config: {} })),
  )
}

/** Whether it has models, and none that could be used now. */
function isKeyless({ models }: AgentInfo): boolean {
  return models.length > 0 && models.every(({ policyState }) => policyState === 'unconfigured')
}

function row(agent: AgentInfo, { cyan, yellow, dim }: Style): readonly string[] {
  const logins = loginsOf(agent).map(onOneLine).join(', ')
  const models = agent.models.slice(0, mostModels).map(({ id }) => harmless(id))
  const more = agent.models.length - models.length
  const shown = [...models, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
  return [
    cyan(harmless(agent.provider)),
    onOneLine(agent.displayName),
    logins !== '' ? yellow(`login: ${logins}`) : isKeyless(agent) ? yellow('no key') : dim('no login'),
    shown || dim(onOneLine(agent.description)),
  ]
}

const mostModels = 6
