import { array, boolean, id, object, openEnum, optional, string } from '../schema.ts'
import type { Infer } from '../schema.ts'

const protectedResource = {
  resource: id,
  resource_name: optional(string),
  authorization_servers: optional(array(id)),
  jwks_uri: optional(id),
  scopes_supported: optional(array(string)),
  bearer_methods_supported: optional(array(string)),
  resource_signing_alg_values_supported: optional(array(string)),
  resource_documentation: optional(id),
  resource_policy_uri: optional(id),
  resource_tos_uri: optional(id),
  /** True if absent. */
  required: optional(boolean),
}
/** Protected resource metadata of RFC 9728. Its keys keep the spelling of the RFC. */
export interface ProtectedResourceMetadata extends Infer<typeof protectedResource> {}
export const ProtectedResourceMetadata = object<ProtectedResourceMetadata>(
  'ProtectedResourceMetadata',
  protectedResource,
)

const oauthClient = { clientId: string, clientSecret: optional(string) }
export interface OAuthClient extends Infer<typeof oauthClient> {}
export const OAuthClient = object<OAuthClient>('OAuthClient', oauthClient)

export const mcpAuthRequirementShape = {
  reason: openEnum('McpAuthRequiredReason', ['required', 'expired', 'insufficientScope']),
  resource: ProtectedResourceMetadata,
  requiredScopes: optional(array(string)),
  description: optional(string),
  oauthClient: optional(OAuthClient),
}
/** The authorization that an MCP server, or one of its tool calls, waits for. */
export interface McpAuthRequirement extends Infer<typeof mcpAuthRequirementShape> {}
export const McpAuthRequirement = object<McpAuthRequirement>('McpAuthRequirement', mcpAuthRequirementShape)
