import { homedir } from 'node:os'
import type { Uri } from '@atrium/protocol/channel'
import { pathOf } from '@atrium/protocol/file-uri'
import type { SessionState } from '@atrium/protocol/session/state'
import type { AcpSession, SessionContext } from './acp-session.ts'
import type { SessionProcess } from './session-process.ts'
import type { LaunchContext } from './process/launch.ts'
import type { Profile } from './agent-info.ts'
import type { AcpConnection } from './process/connection.ts'
import { isEnabled, isSupported } from './process/mcp-servers.ts'
import type { AcpServer } from './process/mcp-servers.ts'

interface Given {
  /** The MCP servers of the host's config. */
  readonly servers: readonly AcpServer[]
  readonly profile: Profile | undefined
  /** The directories of the chat itself. */
  readonly own?: readonly Uri[] | undefined
}

/**
 * Returns the context of a chat: the directories of the chat, or of its session if the chat has none, and the enabled MCP
 * servers.
 */
export function contextOf(session: SessionState, { servers, profile, own = [] }: Given): SessionContext {
  const [cwd, ...others] = foldersOf(own.length > 0 ? own : session.workingDirectories)
  const additional = profile?.directories && others.length > 0 ? { additionalDirectories: others } : {}
  const mcpServers = servers.filter((server) => isEnabled(server, session.customizations))
  return { cwd, ...additional, mcpServers }
}

/** Opens an ACP session for the default chat of a session, before the first turn. */
export async function openDefaultChat(
  process: SessionProcess,
  state: SessionState,
  { mcpServers: servers = [] }: LaunchContext,
  profile: Profile | undefined,
): Promise<AcpSession> {
  const context = supportedContext(contextOf(state, { servers, profile }), await process.connection())
  return process.createSession(state.defaultChat ?? '', context)
}

/** Returns the context without the MCP servers that the agent does not support. */
export function supportedContext(context: SessionContext, connection: AcpConnection): SessionContext {
  const { agentCapabilities } = connection.initialized
  return {
    ...context,
    mcpServers: context.mcpServers.filter((server) => isSupported(server, agentCapabilities)),
  }
}

/** Returns the paths of working directories. Without any, an agent works in the home folder. */
export function foldersOf(directories: readonly Uri[] = []): readonly [string, ...string[]] {
  const [first = homedir(), ...others] = directories.flatMap((uri) => {
    const parsed = pathOf(uri)
    return parsed.ok ? [parsed.path] : []
  })
  return [first, ...others]
}
