import { agentsOf } from '../agents/agents.ts'
import { countSessions } from '../../catalog/announce.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import type { ConfigSchema } from '@atrium/protocol/common/config'
import type { LimitValues } from '@atrium/protocol/limits'
import { defaultProviderKey } from '@atrium/protocol/root/default-agent'
import type { RootState } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import { setAgents } from '../agents/agents.ts'
import type { Core } from '../../kernel/core.ts'
import { pluginsKey, pluginsProblem, pluginsProperty } from '../customizations/plugins-setting.ts'
import { retentionKey, retentionProblem, retentionProperty } from '../retention/retention-setting.ts'
import { grantsProblem, grantsProperty } from '../access/folder-grants.ts'
import {
  forgedPermission,
  permissionsKey,
  permissionsProblem,
  permissionsProperty,
} from '../access/tool-permissions.ts'
import { lostHistory } from '../../kernel/log/epochs.ts'
import { Damaged } from '../../kernel/log/rebuild.ts'
import type { Guards } from '../../kernel/rules.ts'
import type { Agent } from '../../ports/agent.ts'

/** The config keys of the host itself. Other keys belong to clients, and the host only stores them. */
export const rootConfig: ConfigSchema = {
  type: 'object',
  properties: {
    [defaultProviderKey]: {
      type: 'string',
      title: 'Default agent',
      description:
        'The provider id of the agent that a session gets when its creator names none. If it is not set: the first agent that is ready, else the guide.',
    },
    'atrium.grants': grantsProperty,
    [permissionsKey]: permissionsProperty,
    [retentionKey]: retentionProperty,
    [pluginsKey]: pluginsProperty,
  },
}

const firstState: RootState = {
  agents: [],
  activeSessions: 0,
  config: { schema: { type: 'object', properties: {} }, values: {} },
}

/** Loads or creates the root channel, and publishes the agents of this build and machine. */
export async function openRoot(core: Core): Promise<void> {
  await core.log.wake(rootUri)
  const root = core.log.channel(rootUri, 'root') ?? core.log.create(rootUri, 'root', firstState)
  setAgents(core)
  const { activeSessions } = root.head
  // The session list and this count always change in the same step. If they differ, the disk has lost a part of some
  // step.
  if (activeSessions === catalogOf(core).announced) return
  if (catalogOf(core).lacking.length === 0)
    throw new Damaged(
      `the session list is damaged: it has ${catalogOf(core).announced}, and the log counts ${activeSessions}`,
    )
  // A session that is set aside is not counted.
  if (core.readOnlyReason() === undefined) countSessions(core)
}

/** Fills in the fields of the root that no action can change. */
export function derivedRoot(core: Core, state: RootState): RootState {
  return {
    ...state,
    config: { schema: rootConfig, values: state.config?.values ?? {} },
    ...metaOf(core, state),
  }
}

/**
 * Returns the `_meta` of the root with the build of the host and, if the host has found lost history at its start,
 * the sentence for users about the loss.
 */
function metaOf(core: Core, { _meta }: RootState): Pick<RootState, '_meta'> {
  const found = {
    ...(core.about.build !== undefined && { hostBuild: core.about.build }),
    ...(core.store.log.lost !== undefined && { 'x-atrium': { lost: lostHistory } }),
  }
  return Object.keys(found).length > 0 ? { _meta: { ..._meta, ...found } } : {}
}

function isProvider(agents: readonly Agent[], value: unknown): boolean {
  return value === null || (typeof value === 'string' && providersOf(agents).includes(value))
}

function providersOf(agents: readonly Agent[]): readonly string[] {
  return agents.map(({ info }) => info.provider)
}

const listProblems = new Map<string, (value: unknown, limits: LimitValues) => string | undefined>([
  ['atrium.grants', (value, limits) => grantsProblem(value, limits.grants)],
  [permissionsKey, (value, limits) => permissionsProblem(value, limits.permissions)],
  [retentionKey, retentionProblem],
  [pluginsKey, (value, limits) => pluginsProblem(value, limits.plugins)],
])

export const rootGuards: Guards<'root'> = {
  // Several clients keep keys of their own in the root config. No client may delete the keys of the others.
  'root/configChanged': ({ config, replace }, { state, by, core }) => {
    const { limits } = core
    const { list: agents } = agentsOf(core)
    if (replace) return 'the root config is shared and cannot be replaced as a whole'
    for (const [key, value] of Object.entries(config)) {
      const property = Object.hasOwn(rootConfig.properties, key) ? rootConfig.properties[key] : undefined
      if (key.startsWith('atrium.') && !property) return `there is no setting ${JSON.stringify(key)}`
      if (property?.type === 'string' && value !== null && typeof value !== 'string')
        return `${key} must be a string`
      if (key === defaultProviderKey && !isProvider(agents, value))
        return `there is no agent ${JSON.stringify(value)}; there are: ${providersOf(agents).join(', ')}`
      const problem = listProblems.get(key)?.(value, limits)
      if (problem !== undefined) return problem
    }
    const forged = forgedPermission(config, state.config?.values, by.clientId)
    if (forged !== undefined) return forged
    // The root config is in the response to `initialize`: too large a config would lock all clients out.
    const after = JSON.stringify({ ...state.config?.values, ...config }).length
    return after > limits.configLength
      ? `the root config holds at most ${limits.configLength} characters`
      : undefined
  },
}
