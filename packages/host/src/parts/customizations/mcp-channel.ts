import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import type { JsonObject } from '@atrium/protocol/json'
import { mcpServes } from '@atrium/protocol/mcp/methods'
import type { McpServerCustomization } from '@atrium/protocol/session/customization'
import { customizationsOf } from '../../catalog/customizing.ts'
import type { Core } from '../../kernel/core.ts'
import type { StatelessChannel } from '../../kernel/stateless.ts'
import { McpAuthRequired, McpRefused, McpFailed } from '../../ports/mcp.ts'
import type { McpServer } from '../../ports/mcp.ts'

/** The channel of an MCP server of a session. It is the same each time the server is ready. */
export function mcpChannel(session: Uri, id: string): Uri {
  return `${prefix}${encodeURIComponent(session)}/${encodeURIComponent(id)}`
}

/** What a customization shows of the channel to its server. */
export function shownChannel(
  session: Uri,
  id: string,
  server: McpServer | undefined,
): Pick<McpServerCustomization, 'channel' | 'mcpApp'> {
  const capabilities = server?.serves
  return capabilities && Object.keys(capabilities).length > 0
    ? { channel: mcpChannel(session, id), mcpApp: { capabilities } }
    : {}
}

/** The channel of a URI, as a rule of the host finds it. */
export function findMcpChannel(core: Core, uri: Uri): StatelessChannel | AhpError | undefined {
  if (!uri.startsWith(prefix)) return undefined
  const server = serverOf(core, uri)
  if (!server?.serves)
    return AhpError.notFound(
      `no channel ${JSON.stringify(uri.slice(0, 200))}: read the customization of the MCP server again`,
    )
  return {
    // A person calls tools here without being asked.
    role: 'own',
    follow: () => {},
    leave: () => {},
    request: (method, params) => ask(server, method, params),
  }
}

function serverOf(core: Core, uri: Uri): McpServer | undefined {
  const names = uri.slice(prefix.length).split('/')
  const [session, id] = names.map(decoded)
  // The servers of a session that is not in memory do not run.
  if (
    names.length !== 2 ||
    session === undefined ||
    id === undefined ||
    !core.log.channel(session, 'session')
  )
    return undefined
  return customizationsOf(core)?.server(session, id)
}

async function ask(server: McpServer, method: string, params: JsonObject): Promise<JsonObject> {
  // Notifications are for clients.
  if (method.startsWith('notifications/') || !mcpServes(server.serves ?? {}, method))
    throw AhpError.methodNotFound(method)
  try {
    return await server.request(method, params)
  } catch (error) {
    throw shownError(error)
  }
}

function shownError(error: unknown): unknown {
  if (error instanceof McpRefused) return new AhpError(error.code, error.message)
  if (error instanceof McpAuthRequired)
    return new AhpError(errorCodes.AuthRequired, error.message, { resources: [error.requirement.resource] })
  return error instanceof McpFailed ? new AhpError(errorCodes.InternalError, error.message) : error
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const prefix = 'mcp://'
