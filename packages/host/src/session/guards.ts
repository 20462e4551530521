import type { MultipleDirectories } from '@atrium/protocol/root/state'
import { pathOf } from '@atrium/protocol/file-uri'
import type { SessionState } from '@atrium/protocol/session/state'
import { agentOf } from '../agents/agents.ts'
import type { Core } from '../core/core.ts'
import { lengthOf } from '../log/rows.ts'
import { forgedPermission } from '../access/permissions.ts'
import type { Guarded, Guards } from '../core/rules.ts'
import { changeProblem, permissionValuesProblem } from '../agents/settings.ts'

export const sessionGuards: Guards<'session'> = {
  'session/activeClientSet': ({ activeClient }, { state: { activeClients }, by, core: { limits } }) => {
    if (activeClient.clientId !== by.clientId) return 'a client can only speak for itself'
    const others = activeClients.filter(({ clientId }) => clientId !== by.clientId)
    const length = others.reduce((sum, client) => sum + lengthOf(client), lengthOf(activeClient))
    return length > limits.lentLength
      ? `clients lend at most ${limits.lentLength} characters to a session`
      : undefined
  },

  'session/activeClientRemoved': ({ clientId }, { state, by }) => {
    if (clientId !== by.clientId) return 'a client can only speak for itself'
    return state.activeClients.some((client) => client.clientId === clientId)
      ? undefined
      : 'this client is not an active client'
  },

  'session/configChanged': ({ config: given, replace }, { state: { config }, by, core: { limits } }) => {
    const problem =
      changeProblem(config?.schema, given) ??
      permissionValuesProblem(given, limits.permissions) ??
      forgedPermission(given, config?.values, by.clientId)
    const lost =
      replace &&
      Object.keys(config?.values ?? {}).find(
        (key) => !Object.hasOwn(given, key) && !config?.schema.properties[key]?.sessionMutable,
      )
    return problem ?? (lost ? `${JSON.stringify(lost)} cannot be taken away in this session` : undefined)
  },

  'session/workingDirectorySet': ({ directory }, { state, core }) => {
    const { workingDirectories = [] } = state
    const named = pathOf(directory)
    if (!named.ok) return named.problem
    const several = agentOf(core, state.provider)?.info.capabilities?.multipleWorkingDirectories
    if (workingDirectories.includes(directory) || workingDirectories.length === 0 || several) return undefined
    return 'this agent works in one directory'
  },
  'session/workingDirectoryRemoved': ({ directory }, { state, core }) => {
    const { immutablePrimary } = directoryRules(core, state)
    return directoryProblem(state, directory, immutablePrimary === true)
  },
  'session/workingDirectoryReplaced': ({ directory, replacement }, { state, core }) => {
    const named = pathOf(replacement)
    if (!named.ok) return named.problem
    const { immutablePrimary, primaryReplacement } = directoryRules(core, state)
    return directoryProblem(state, directory, immutablePrimary === true && !primaryReplacement)
  },

  'session/customizationToggled': (action, { state }) => {
    const kinds = new Set(action.enablement.map(({ kind }) => kind))
    return kinds.size < action.enablement.length
      ? 'a customization is decided about once for the session, once for a folder and once for all'
      : customizationProblem(state, action)
  },
  'session/mcpServerStartRequested': serverProblem,
  'session/mcpServerStopRequested': serverProblem,
  'session/mcpServerBackgroundRequested': serverProblem,
}

function directoryRules(core: Core, { provider }: SessionState): MultipleDirectories {
  return agentOf(core, provider)?.info.capabilities?.multipleWorkingDirectories ?? {}
}

function directoryProblem(
  { workingDirectories = [] }: SessionState,
  directory: string,
  fixed: boolean,
): string | undefined {
  if (!workingDirectories.includes(directory)) return 'this is no directory of the session'
  return fixed && directory === workingDirectories[0]
    ? 'the first directory of this session cannot change'
    : undefined
}

function customizationProblem(
  { customizations = [] }: SessionState,
  { id }: { readonly id: string },
): string | undefined {
  return customizations.some((one) => hasId(one, id)) ? undefined : 'there is no such customization here'
}

/** Nobody would follow such a wish. */
function serverProblem(action: { readonly id: string }, { state }: Guarded<'session'>): string {
  const own = 'the agent starts and ends its MCP servers itself: switch this one on or off'
  return customizationProblem(state, action) ?? own
}

function hasId(customization: object, id: string): boolean {
  const { id: own, children = [] } = customization as { id: string; children?: readonly { id: string }[] }
  return own === id || children.some((child) => child.id === id)
}
