import type { Grant } from './grants.ts'
import type { GuardedFetch } from './guarded-fetch.ts'

/** Revokes the tokens of a grant (RFC 7009): the refresh token, and with it the access tokens, and the last access token. */
export async function revokeAt(grant: Grant, fetchFn: GuardedFetch): Promise<void> {
  const { server, refreshToken, accessToken } = grant
  const { metadata = {} } = server
  const endpoint = 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined
  if (typeof endpoint !== 'string') return
  const tokens = [
    ['refresh_token', refreshToken],
    ['access_token', accessToken],
  ] as const
  for (const [hint, token] of tokens)
    if (token !== undefined) await post(endpoint, { token, token_type_hint: hint }, grant, fetchFn)
}

async function post(
  endpoint: string,
  fields: { readonly [name: string]: string },
  { client }: Grant,
  fetchFn: GuardedFetch,
): Promise<void> {
  const { client_id: id, client_secret: secret } = client
  const method = 'token_endpoint_auth_method' in client ? client.token_endpoint_auth_method : undefined
  const headers = new Headers()
  const body = new URLSearchParams(fields)
  const isBasic = secret !== undefined && method !== 'client_secret_post'
  if (isBasic) {
    const credentials = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`)
  } else {
    body.set('client_id', id)
    if (secret !== undefined) body.set('client_secret', secret)
  }
  await fetchFn(endpoint, { method: 'POST', headers, body })
}
