import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionState } from '@atrium/protocol/session/state'
import { agentOf } from './agents.ts'
import type { Guards } from './rules.ts'
import { changeProblem } from './settings.ts'

const notThere = 'there is no such customization here'

export const sessionGuards: Guards<SessionState, SessionAction> = {
  'session/activeClientSet': (_, { activeClient }, by) =>
    activeClient.clientId === by.clientId ? undefined : 'a client can only speak for itself',

  'session/activeClientRemoved': (state, { clientId }, by) => {
    if (clientId !== by.clientId) return 'a client can only speak for itself'
    return state.activeClients.some((client) => client.clientId === clientId)
      ? undefined
      : 'this client is not an active client'
  },

  'session/configChanged': ({ config }, { config: given, replace }) => {
    const problem = changeProblem(config?.schema, given)
    const lost =
      replace &&
      Object.keys(config?.values ?? {}).find(
        (key) => !Object.hasOwn(given, key) && !config?.schema.properties[key]?.sessionMutable,
      )
    return problem ?? (lost ? `${JSON.stringify(lost)} cannot be taken away in this session` : undefined)
  },

  'session/workingDirectorySet': (state, { directory }, _, core) => {
    const { workingDirectories = [] } = state
    const several = agentOf(core, state.provider)?.info.capabilities?.multipleWorkingDirectories
    if (workingDirectories.includes(directory) || workingDirectories.length === 0 || several) return undefined
    return 'this agent works in one directory'
  },
  'session/workingDirectoryRemoved': (state, { directory }, _, core) => {
    const { workingDirectories = [] } = state
    if (!workingDirectories.includes(directory)) return 'this is no directory of the session'
    const rules = agentOf(core, state.provider)?.info.capabilities?.multipleWorkingDirectories
    return rules?.immutablePrimary && directory === workingDirectories[0]
      ? 'the first directory of this session cannot change'
      : undefined
  },
  'session/workingDirectoryReplaced': (state, { directory }, _, core) => {
    const { workingDirectories = [] } = state
    if (!workingDirectories.includes(directory)) return 'this is no directory of the session'
    const rules = agentOf(core, state.provider)?.info.capabilities?.multipleWorkingDirectories
    const fixed = rules?.immutablePrimary && !rules.primaryReplacement
    return fixed && directory === workingDirectories[0]
      ? 'the first directory of this session cannot change'
      : undefined
  },

  'session/customizationToggled': ({ customizations = [] }, { id }) =>
    customizations.some((one) => hasId(one, id)) ? undefined : notThere,
  'session/mcpServerStartRequested': ({ customizations = [] }, { id }) =>
    customizations.some((one) => hasId(one, id)) ? undefined : notThere,
  'session/mcpServerStopRequested': ({ customizations = [] }, { id }) =>
    customizations.some((one) => hasId(one, id)) ? undefined : notThere,
  'session/mcpServerBackgroundRequested': ({ customizations = [] }, { id }) =>
    customizations.some((one) => hasId(one, id)) ? undefined : notThere,
}

function hasId(customization: object, id: string): boolean {
  const { id: own, children = [] } = customization as { id: string; children?: readonly { id: string }[] }
  return own === id || children.some((child) => child.id === id)
}
