import { isDeepStrictEqual } from 'node:util'
import type { Chat } from '@atrium/host/ports/agent'
import type { Uri } from '@atrium/protocol/channel'
import type { SessionContext } from './acp-session.ts'
import type { OutputStream } from './calls/output-stream.ts'
import { fieldsOf } from './process/schema.ts'

/** The stored reference to the ACP session of a chat. A later process restores the session by it. */
export interface SessionMemory {
  readonly id: string
  /** Names of the MCP servers that the session was given. */
  readonly servers: readonly string[]
}

/** Reads the memory from the `_meta` of the host's session. */
export function sessionMemory({ uri, session }: Chat): SessionMemory | undefined {
  const { id, servers } = fieldsOf(session._meta?.[metaKey(uri)])
  return typeof id === 'string' && Array.isArray(servers) ? { id, servers } : undefined
}

/**
 * Stores the memory if it has changed. Each turn calls this function, because the action of an earlier turn may have been
 * lost when that turn was cancelled.
 */
export function storeSessionMemory(
  chat: Chat,
  output: OutputStream,
  id: string,
  { mcpServers }: SessionContext,
): void {
  const memory: SessionMemory = { id, servers: mcpServers.map(({ name }) => name) }
  if (!isDeepStrictEqual(sessionMemory(chat), memory))
    output.write({ type: 'session/metaChanged', _meta: { [metaKey(chat.uri)]: memory } })
}

function metaKey(chat: Uri): string {
  return `x-atrium.acp:${chat}`
}
