import { SignInFailed } from '@atrium/host/ports/authorizer'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { AuthorizationServerMetadata, OAuthClientInformationMixed } from '@modelcontextprotocol/client'
import type { Library } from '../library.ts'
import type { GuardedFetch } from './guarded-fetch.ts'

/** An authorization server, and what it knows about this host as its client. */
export interface AuthorizationServer {
  readonly url: string
  /** Absent: a server of the first revision of MCP's authorization, with its endpoints at fixed paths. */
  readonly metadata?: AuthorizationServerMetadata
}

/**
 * Finds the authorization server of a resource, and its metadata (RFC 8414, or OpenID Connect Discovery). A resource without
 * metadata of its own is its own authorization server, as in the first revision of MCP's authorization.
 */
export async function findServer(
  { resource, authorization_servers: [named] = [] }: ProtectedResourceMetadata,
  library: Library,
  fetchFn: GuardedFetch,
): Promise<AuthorizationServer> {
  const url = named ?? new URL(resource).origin
  // In the first revision the metadata lies at the root, whatever its issuer is. It comes from the resource itself.
  const skipIssuerValidation = named === undefined
  const metadata = await library.discoverAuthorizationServerMetadata(url, { fetchFn, skipIssuerValidation })
  if (!metadata) {
    if (named !== undefined)
      throw new SignInFailed(`The authorization server ${named} has no metadata (RFC 8414).`)
    return { url }
  }
  const { code_challenge_methods_supported: methods } = metadata
  if (methods && !methods.includes('S256'))
    throw new SignInFailed(`The authorization server ${url} does not support PKCE with S256.`)
  return { url, metadata }
}

/** Registers this host as a client (RFC 7591). */
export async function register(
  { url, metadata }: AuthorizationServer,
  library: Library,
  { redirect, scope, fetchFn }: Registration,
): Promise<OAuthClientInformationMixed> {
  if (metadata && metadata.registration_endpoint === undefined)
    throw new SignInFailed(
      `The authorization server ${url} registers no clients by itself. Get a token there, and give it to the sign-in.`,
    )
  return library.registerClient(url, {
    ...(metadata && { metadata }),
    clientMetadata: {
      client_name: 'Atrium',
      redirect_uris: [redirect],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: authMethod(metadata),
      ...(scope !== undefined && { scope }),
    },
    fetchFn,
  })
}

interface Registration {
  readonly redirect: string
  readonly scope: string | undefined
  readonly fetchFn: GuardedFetch
}

/**
 * Returns the scopes to ask for: those that the resource asked for, else those that its metadata names. `offline_access` is added if
 * the authorization server knows it, so that it gives a refresh token.
 */
export function scopesFor(
  asked: readonly string[] | undefined,
  { scopes_supported: named }: ProtectedResourceMetadata,
  { metadata }: AuthorizationServer,
): string | undefined {
  const scopes = asked && asked.length > 0 ? asked : (named ?? [])
  const offline = metadata?.scopes_supported?.includes('offline_access') === true ? ['offline_access'] : []
  const all = [...new Set([...scopes, ...offline])]
  return all.length === 0 ? undefined : all.join(' ')
}

/** A host on a person's machine keeps no secret of its own, so it prefers to be a public client. */
function authMethod(metadata: AuthorizationServerMetadata | undefined): string {
  const offered = metadata?.token_endpoint_auth_methods_supported
  if (!offered) return metadata ? 'client_secret_basic' : 'none'
  return (
    ['none', 'client_secret_basic', 'client_secret_post'].find((each) => offered.includes(each)) ?? 'none'
  )
}
