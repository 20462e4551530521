import type { AgentInfo } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Whereabouts } from '../reach.ts'
import { table } from '../render/table.ts'
import { trip } from '../trip.ts'
import { harmless, onOneLine, voice } from '../voice.ts'
import type { Manners, Style } from '../voice.ts'

/** `atrium agents`: who can be talked to here, with what, and whether somebody must sign in first. */
export function agents(flags: Whereabouts & Manners): Promise<void> {
  const { tell, note, json, style } = voice(flags)
  return trip(flags, async (client) => {
    const { agents: all } = await client.subscribe('root', rootUri).ready()
    if (json) for (const agent of all) tell({ ...agent, loginRequired: loginsOf(agent).length > 0 }, () => '')
    else if (all.length > 0) tell({}, () => table(all.map((agent) => row(agent, style))))
    else note('This host has no agents.')
  })
}

/** What somebody must have signed in to before such an agent works. */
export function loginsOf({ protectedResources = [] }: AgentInfo): readonly string[] {
  return protectedResources
    .filter(({ required }) => required !== false)
    .map(({ resource, resource_name }) => resource_name ?? resource)
}

function row(agent: AgentInfo, { cyan, yellow, dim }: Style): readonly string[] {
  const logins = loginsOf(agent).map(onOneLine).join(', ')
  const models = agent.models.map(({ id }) => harmless(id)).join(', ')
  return [
    cyan(harmless(agent.provider)),
    onOneLine(agent.displayName),
    logins === '' ? dim('no login') : yellow(`login: ${logins}`),
    models || dim('(no models)'),
  ]
}
