import { httpServer } from '../mcp/http.ts'
import type { authorizationServer } from './provider.ts'

/** Starts an MCP server that takes only the tokens of an authorization server, and only those that were made for it. */
export async function guardedServer({
  valid,
  origin: issuer,
}: Awaited<ReturnType<typeof authorizationServer>>) {
  const remote = await httpServer({
    refuse: ({ authorization = '' }, origin) =>
      valid.get(authorization.replace('Bearer ', '')) === remote.url
        ? undefined
        : { status: 401, challenge: `Bearer resource_metadata="${origin}/metadata", scope="files:read"` },
    get: (path, origin) =>
      path === '/metadata'
        ? { body: JSON.stringify({ resource: `${origin}/mcp`, authorization_servers: [issuer] }) }
        : undefined,
  })
  return remote
}
