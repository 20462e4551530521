import { terminalsOf } from '../../catalog/machine.ts'
import { worktreesOf } from '../../catalog/machine.ts'
import { vcsOf } from '../../catalog/machine.ts'
import { customizationsOf } from '../../catalog/customizing.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { Message } from '@atrium/protocol/chat/message'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import type { Params, Result } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { pathOf } from '@atrium/protocol/file-uri'
import type { SessionConfigSchema } from '@atrium/protocol/common/config'
import { defaultAgent, defaultProviderKey } from '@atrium/protocol/root/default-agent'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import { shellAgent, lineOf } from './shell-agent.ts'
import type { Core } from '../../kernel/core.ts'
import { equal } from '../../kernel/log/equal.ts'
import type { Agent } from '../../ports/agent.ts'
import { isolationProperties } from './isolation.ts'
import { setupCommand } from './setup-command.ts'
import { customizationsKey, customizationsProperty, settingProblem, resolvedValues } from './settings.ts'
import { defineKey } from '../../kernel/key.ts'

/** The agents on offer. The list is replaced when an agent is added or removed. */
export const agentsOf = defineKey<{ list: readonly Agent[] }>('agents')

export function agentOf(core: Core, provider: string): Agent | undefined {
  return agentsOf(core).list.find(({ info }) => info.provider === provider)
}

/** Returns the agent of a turn: the shell if the message is a shell command, else the session's agent. */
export function agentFor(core: Core, provider: string, message: Message): Agent | undefined {
  return terminalsOf(core) && lineOf(message) !== undefined ? shellAgent : agentOf(core, provider)
}

/** The error of a turn whose agent this host does not have any more. */
export function noAgent(provider: string): ErrorInfo {
  return { errorType: 'provider', message: `there is no agent ${JSON.stringify(provider)} any more` }
}

/** Returns the agent of this provider, or the default agent if no provider is named. Throws if there is no such agent. */
export function chooseAgent(core: Core, asked: string | undefined): Agent {
  const root = core.log.channel(rootUri, 'root')?.head
  const configured = root?.config?.values[defaultProviderKey]
  const named = asked ?? (typeof configured === 'string' ? configured : undefined)
  const infos = agentsOf(core).list.map(({ info }) => info)
  const wanted = named ?? defaultAgent(infos, undefined)?.provider ?? ''
  const agent = agentOf(core, wanted)
  if (!agent) throw AhpError.providerNotFound(wanted)
  return agent
}

/** Returns the agent after it has probed its models and settings. Changes are published. */
export async function probeAgent(core: Core, asked: string | undefined, directory?: Uri): Promise<Agent> {
  const agent = chooseAgent(core, asked)
  await agent.probe?.(directory)
  const before = core.log.last
  setAgents(core)
  // The client gets the changed list before the response to its request.
  if (core.log.last > before) await core.log.reached(core.log.last)
  return agent
}

/** Sets the agents, and publishes the list if it has changed. */
export function setAgents(core: Core, agents: readonly Agent[] = agentsOf(core).list): void {
  agentsOf(core).list = agents
  const root = core.log.channel(rootUri, 'root')
  const offered = agents.map(({ info }) => withCustomizations(core, info))
  if (root && !equal(root.head.agents, offered))
    core.log.append(root, { type: 'root/agentsChanged', agents: offered })
}

/** Adds the customizations that all sessions of the host have to an agent's description. */
function withCustomizations(core: Core, info: AgentInfo): AgentInfo {
  const { ofHost = [] } = customizationsOf(core) ?? {}
  return ofHost.length === 0 ? info : { ...info, customizations: [...(info.customizations ?? []), ...ofHost] }
}

export async function resolveSessionConfig(
  core: Core,
  { provider, config, workingDirectory }: Params<'resolveSessionConfig'>,
): Promise<Result<'resolveSessionConfig'>> {
  const { settings } = await probeAgent(core, provider)
  const problem = settingProblem(settings?.schema, config)
  if (problem !== undefined) throw AhpError.invalidParams(`resolveSessionConfig: ${problem}`)
  const offered = await customizationsOf(core)?.offered(workingDirectory)
  const command = worktreesOf(core) && (await setupCommandOf(core, workingDirectory))
  const { properties = {}, ...rest } = settings?.schema ?? { type: 'object' as const }
  const schema: SessionConfigSchema = {
    ...rest,
    properties: {
      ...properties,
      ...(offered && { [customizationsKey]: customizationsProperty(offered) }),
      ...(worktreesOf(core) && isolationProperties(command)),
    },
  }
  return { schema, values: resolvedValues(schema, config) }
}

/** Returns the setup command of the repository that contains a folder. Undefined if there is none. */
async function setupCommandOf(core: Core, folder: Uri | undefined): Promise<string | undefined> {
  const named = folder === undefined ? undefined : pathOf(folder)
  if (!named?.ok) return undefined
  const root = await vcsOf(core)
    ?.root(named.path)
    .catch(() => undefined)
  return root === undefined ? undefined : setupCommand(core, root)
}

export async function sessionConfigCompletions(
  core: Core,
  { provider, property, query = '', workingDirectory }: Params<'sessionConfigCompletions'>,
): Promise<Result<'sessionConfigCompletions'>> {
  const { settings } = await probeAgent(core, provider)
  if (!settings?.schema.properties[property]?.enumDynamic)
    throw AhpError.invalidParams(
      `sessionConfigCompletions: ${JSON.stringify(property.slice(0, 100))} is no setting whose choices can be asked for`,
    )
  return { items: (await settings.choices?.(property, query, workingDirectory)) ?? [] }
}
