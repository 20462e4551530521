import { customizationsOf } from '../../catalog/customizing.ts'
import type { MultipleDirectories } from '@atrium/protocol/root/state'
import { pathOf } from '@atrium/protocol/file-uri'
import type { SessionConfigSchema } from '@atrium/protocol/common/config'
import type { Customization } from '@atrium/protocol/session/customization'
import type { SessionState } from '@atrium/protocol/session/state'
import { agentOf } from '../agents/agents.ts'
import type { Core } from '../../kernel/core.ts'
import { lengthOf } from '../../kernel/log/rows.ts'
import { forgedPermission } from '../access/tool-permissions.ts'
import type { Guarded, Guards } from '../../kernel/rules.ts'
import { changeProblem, permissionValuesProblem } from '../agents/settings.ts'
import { defaultChatProblem } from './default-chat.ts'

export const sessionGuards: Guards<'session'> = {
  'session/defaultChatChanged': (action, { state }) => defaultChatProblem(action, state),

  'session/activeClientSet': ({ activeClient }, { state: { activeClients }, by, core: { limits } }) => {
    if (activeClient.clientId !== by.clientId)
      return 'a client can only add or remove itself as an active client'
    const others = activeClients.filter(({ clientId }) => clientId !== by.clientId)
    const length = others.reduce((sum, client) => sum + lengthOf(client), lengthOf(activeClient))
    return length > limits.lentLength
      ? `the active clients of a session provide at most ${limits.lentLength} characters`
      : undefined
  },

  'session/activeClientRemoved': ({ clientId }, { state, by }) => {
    if (clientId !== by.clientId) return 'a client can only add or remove itself as an active client'
    return state.activeClients.some((client) => client.clientId === clientId)
      ? undefined
      : 'this client is not an active client'
  },

  'session/configChanged': ({ config: given, replace }, { state, by, core }) => {
    const { config } = state
    const schema = presentSchema(core, state)
    const problem =
      changeProblem(schema, given) ??
      permissionValuesProblem(given, core.limits.permissions) ??
      forgedPermission(given, config?.values, by.clientId)
    const removed =
      replace &&
      Object.keys(config?.values ?? {}).find(
        (key) => !Object.hasOwn(given, key) && !schema?.properties[key]?.sessionMutable,
      )
    return problem ?? (removed ? `${JSON.stringify(removed)} cannot be removed in this session` : undefined)
  },

  'session/workingDirectorySet': ({ directory }, { state, core }) => {
    const { workingDirectories = [] } = state
    const named = pathOf(directory)
    if (!named.ok) return named.problem
    const several = agentOf(core, state.provider)?.info.capabilities?.multipleWorkingDirectories
    if (workingDirectories.includes(directory) || workingDirectories.length === 0 || several) return undefined
    return 'this agent supports one working directory'
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
      ? 'enablement has at most one entry of each kind'
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
  if (!workingDirectories.includes(directory)) return 'this is not a working directory of the session'
  return fixed && directory === workingDirectories[0]
    ? 'the first directory of this session cannot be changed'
    : undefined
}

function customizationProblem(
  { customizations = [] }: SessionState,
  { id }: { readonly id: string },
): string | undefined {
  return customizations.some((one) => hasId(one, id)) ? undefined : 'this session has no such customization'
}

/** Refuses requests for a server that the host does not run: agents start and stop their MCP servers themselves. */
function serverProblem(
  action: { readonly id: string },
  { state, core, channel }: Guarded<'session'>,
): string | undefined {
  const reason = 'the agent starts and stops its MCP servers itself: enable or disable this one'
  const isOurs = customizationsOf(core)?.server(channel.uri, action.id) !== undefined
  return customizationProblem(state, action) ?? (isOurs ? undefined : reason)
}

function hasId(customization: Customization, id: string): boolean {
  if (customization.id === id) return true
  const children = 'children' in customization ? customization.children : undefined
  return children?.some((child) => child.id === id) ?? false
}

/**
 * The schema of a session's settings. It also has the settings that the agent has told only after the creation of the session:
 * no action adds them to the state, so clients get them by `resolveSessionConfig`.
 */
function presentSchema(core: Core, { config, provider }: SessionState): SessionConfigSchema | undefined {
  const known = agentOf(core, provider)?.settings?.schema
  if (!config || !known) return config?.schema
  return { ...config.schema, properties: { ...known.properties, ...config.schema.properties } }
}
