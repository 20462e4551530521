import type { Chat } from '@atrium/host/ports/agent'
import type { SessionContext } from './acp-session.ts'
import type { OutputStream } from './output-stream.ts'
import type { SessionProcess } from './session-process.ts'
import type { Launcher } from './process/launch.ts'

/** The chat of a turn, and the parts that work for it. */
export interface TurnParts {
  readonly chat: Chat
  readonly process: SessionProcess
  readonly output: OutputStream
  readonly launcher: Launcher
  /** The context that the chat wants. The agent may not support all of its MCP servers. */
  readonly context: SessionContext
}
