import { SignInRequired } from '@atrium/host/ports/agent'
import { withReadiness } from '@atrium/protocol/root/readiness'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { Readiness } from '@atrium/protocol/root/readiness'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { AcpSession } from './acp-session.ts'
import { modelsOf } from './config-options.ts'
import type { ConfigOption } from './config-options.ts'
import { steers } from './process/connection.ts'
import type { AcpProgram } from './process/launch.ts'
import { customizationOf } from './process/mcp-servers.ts'
import type { AcpServer } from './process/mcp-servers.ts'
import type { RememberedCommands } from './remembered-commands.ts'

/**
 * What a probe has found out about an agent. A probe starts the agent once, without a turn. The host stores this
 * profile, so that its next start needs no probe. The names of the members must not change, because stored profiles
 * contain them.
 */
export interface Profile {
  /** The config options of the agent's sessions. */
  readonly knobs: readonly ConfigOption[]
  /** Whether a session may have several directories. */
  readonly directories?: boolean
  /** Whether the agent takes messages while it works. Absent in profiles that an older version has stored. */
  readonly steers?: boolean
  /** The slash commands. Absent until the agent has told some. */
  readonly commands?: RememberedCommands
}

/** Returns what an ACP session tells about its agent. */
export function profileOf({ options, connection }: AcpSession, commands: RememberedCommands): Profile {
  const { sessionCapabilities } = connection.initialized.agentCapabilities ?? {}
  return {
    knobs: options,
    ...(sessionCapabilities?.additionalDirectories && { directories: true }),
    steers: steers(connection),
    ...(Object.keys(commands).length > 0 && { commands }),
  }
}

/** What is known about an agent program now. */
export interface AgentFacts {
  readonly program: AcpProgram
  readonly servers: readonly AcpServer[]
  readonly profile: Profile | undefined
  /** Why the program could not be used the last time. */
  readonly problem: Error | undefined
}

/** Returns the description of an agent program for clients. */
export function agentInfo({ program, servers, profile, problem }: AgentFacts): AgentInfo {
  const { name: provider, displayName, command, actsWithoutAsking } = program
  const { knobs = [], directories, steers } = profile ?? {}
  const info = {
    provider,
    displayName,
    description: problem?.message ?? `${displayName}, as ${command} on this machine`,
    models: [...modelsOf(provider, knobs)],
    ...(isSignedOut(problem) && { protectedResources: [...problem.resources] }),
    ...(servers.length > 0 && { customizations: servers.map(customizationOf) }),
    capabilities: {
      multipleChats: { fork: true, sideChat: true },
      ...(directories && { multipleWorkingDirectories: { immutablePrimary: true } }),
    },
  }
  return withReadiness(info, {
    state: stateOf(profile, problem),
    ...(problem && { problem: problem.message }),
    ...(actsWithoutAsking && { actsWithoutAsking }),
    ...(steers !== undefined && { takesSteering: steers }),
  })
}

function stateOf(profile: Profile | undefined, problem: Error | undefined): Readiness['state'] {
  if (problem) return isSignedOut(problem) ? 'needs-sign-in' : 'broken'
  return profile ? 'ready' : 'not-tried'
}

/** The ways to sign in, if the agent wants a sign-in. */
export function neededSignIns(problem: Error | undefined): readonly ProtectedResourceMetadata[] {
  return isSignedOut(problem) ? problem.resources : []
}

export function isSignedOut(error: unknown): error is SignInRequired {
  return error instanceof SignInRequired
}

/** What is known about an agent before its program is started. */
export interface KnownAgent {
  readonly profile?: Profile | undefined
  /** The reason why the program of the agent cannot be started. Absent if it can. */
  readonly problem?: string | undefined
}
