import type { Chat } from '@atrium/host/ports/agent'
import type { SessionContext } from './acp-session.ts'
import type { Profile } from './agent-info.ts'
import { contextOf } from './session-context.ts'
import { sessionMemory } from './session-memory.ts'
import type { OutputStream } from './calls/output-stream.ts'
import type { SessionProcess } from './session-process.ts'
import type { ToolEndpoint } from './tool-server/endpoint.ts'
import type { ToolServer } from './tool-server/tool-server.ts'
import type { Launcher } from './process/launch.ts'

/** The chat of a turn, and the objects that take part in running the turn. */
export interface TurnParts {
  readonly chat: Chat
  readonly process: SessionProcess
  readonly output: OutputStream
  readonly launcher: Launcher
  /** The context that the chat asks for. It may contain MCP servers that the agent does not support. */
  readonly context: SessionContext
  /**
   * The endpoint by which the agent calls offered tools and the tools for comments. Absent if the chat was not given
   * the host's MCP server.
   */
  readonly tools?: { readonly name: string; readonly endpoint: ToolEndpoint }
}

/** Returns the parts of a turn. Opens the host's MCP server for the chat if the chat needs it. */
export async function turnParts(
  given: Omit<TurnParts, 'context' | 'tools'>,
  toolServer: ToolServer,
  profile: Profile | undefined,
): Promise<TurnParts> {
  const { chat, launcher } = given
  const servers = launcher.context.mcpServers ?? []
  const context = contextOf(chat.session, { servers, profile, own: chat.state.workingDirectories })
  const name = servers.some((server) => server.name === 'atrium') ? 'atrium-tools' : 'atrium'
  // A chat gets the host's MCP server when its session has tools or comments for the first time, and keeps it: a change
  // of the MCP servers costs a restart of the agent.
  const hasTools = chat.tools.list().length > 0 || chat.comments.exist
  const isWanted = hasTools || sessionMemory(chat)?.servers.includes(name)
  if (!isWanted) return { ...given, context }
  const opened = await toolServer.endpoint(`${chat.sessionUri} ${chat.uri}`, name).catch(() => undefined)
  // If the MCP server could not be opened, the agent works as if there were no tools.
  if (!opened) return { ...given, context }
  const mcpServers = [...context.mcpServers, opened.server]
  return { ...given, context: { ...context, mcpServers }, tools: { name, endpoint: opened.endpoint } }
}
