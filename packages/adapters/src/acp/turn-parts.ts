import type { Chat } from '@atrium/host/ports/agent'
import type { SessionContext } from './acp-session.ts'
import type { OutputStream } from './calls/output-stream.ts'
import type { SessionProcess } from './session-process.ts'
import type { ToolEndpoint } from './tool-server/endpoint.ts'
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
