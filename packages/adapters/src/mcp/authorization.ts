import { McpAuthRequired, McpFailed } from '@atrium/host/ports/mcp'
import { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { JsonObject } from '@atrium/protocol/json'
import { decode } from '@atrium/protocol/schema'
import { visibleJson, visibleText } from '@atrium/protocol/text/visible'
import type { McpLimits } from './context.ts'
import type { Challenge } from './http-fetch.ts'
import { fetchMetadata } from './metadata.ts'
import type { MetadataOptions } from './metadata.ts'
import { isUsable } from './tools.ts'

/**
 * Returns what users are told about a challenge: which resource needs an authorization, and who gives it. The metadata is at
 * the URL that the challenge names, or else at the well-known URLs of the server. Without metadata the resource is the server.
 */
export async function requirementOf(
  challenge: Challenge,
  options: MetadataOptions,
): Promise<McpAuthRequired> {
  const { server } = options
  const { status, scopes, description, hadToken } = challenge
  const resource = (await metadataOf(challenge, options)) ?? { resource: server.href }
  // A token for a resource is sent to the server. So a server must not name the resource of another server.
  if (!covers(resource.resource, server))
    throw new McpFailed('The MCP server names the resource of another server as its own.')
  const reason = status === 403 ? 'insufficientScope' : hadToken ? 'expired' : 'required'
  const message = {
    insufficientScope: 'The MCP server needs an authorization with more scopes.',
    expired: 'The MCP server does not accept the token; sign in again.',
    required: 'The MCP server needs a sign-in.',
  }[reason]
  return new McpAuthRequired(message, {
    reason,
    resource,
    ...(scopes && { requiredScopes: scopes.map(visibleText) }),
    ...(description !== undefined && { description: visibleText(description.slice(0, maxDescription)) }),
  })
}

/** Whether a resource includes an address: the same origin, and the path of the resource or one below it. */
export function covers(resource: string, address: URL): boolean {
  if (!URL.canParse(resource)) return false
  const { origin, pathname, search } = new URL(resource)
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`
  return origin === address.origin && search === '' && `${address.pathname}/`.startsWith(folder)
}

async function metadataOf(
  { metadataUrl }: Challenge,
  options: MetadataOptions,
): Promise<ProtectedResourceMetadata | undefined> {
  const { origin, pathname } = options.server
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`
  const places =
    metadataUrl === undefined ? [`${wellKnown}${pathname.replace(/\/$/, '')}`, wellKnown] : [metadataUrl]
  for (const place of new Set(places)) {
    const found = checked(await fetchMetadata(place, options), options.limits)
    if (found) return found
  }
  return undefined
}

/** Returns metadata without the members that AHP does not have, or undefined if it is too long or not valid. */
function checked(value: JsonObject | undefined, limits: McpLimits): ProtectedResourceMetadata | undefined {
  const known = Object.entries(value ?? {}).filter(([name]) => members.has(name))
  const metadata = Object.fromEntries(known)
  const decoded = isUsable(metadata, limits) && decode(ProtectedResourceMetadata, visibleJson(metadata))
  return decoded && decoded.ok ? decoded.value : undefined
}

const members: ReadonlySet<string> = new Set([
  'resource',
  'resource_name',
  'authorization_servers',
  'jwks_uri',
  'scopes_supported',
  'bearer_methods_supported',
  'resource_signing_alg_values_supported',
  'resource_documentation',
  'resource_policy_uri',
  'resource_tos_uri',
])
const maxDescription = 1000
