import type { IncomingMessage, ServerResponse } from 'node:http'
import Provider from 'oidc-provider'
import { listen } from '../mcp/http.ts'

export interface ProviderOptions {
  /** How long access tokens are valid, in seconds. */
  readonly seconds?: number
  /** A client that was registered by hand. */
  readonly client?: { readonly clientId: string; readonly clientSecret: string; readonly redirect: string }
  /** Whether the person agrees. */
  readonly agrees?: boolean
}

/**
 * Starts an authorization server (`oidc-provider`) in which clients register themselves, PKCE and a resource indicator are required,
 * refresh tokens are rotated, and tokens can be revoked. A person who comes is signed in at once, and agrees.
 */
export async function authorizationServer({ seconds = 3600, agrees = true, client }: ProviderOptions = {}) {
  /** The values of the access tokens that are valid, with their audience. */
  const valid = new Map<string, string>()
  const seen: { readonly path: string; readonly body: string }[] = []
  const opened: { provider?: Provider } = {}
  const server = await listen((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    let body = ''
    request.on('data', (bytes: Buffer) => (body += bytes.toString()))
    request.on('end', () => seen.push({ path, body }))
    const { provider } = opened
    if (!provider) return void response.writeHead(503).end()
    if (path.startsWith('/interaction/')) return void interact(provider, request, response, agrees)
    provider.callback()(request, response)
  })
  const configuration = {
    clients: client ? [registered(client)] : [],
    scopes: ['openid', 'offline_access', 'files:read', 'files:write'],
    pkce: { required: () => true },
    interactions: {
      url: (_: object, interaction: { readonly uid: string }) => `/interaction/${interaction.uid}`,
    },
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    ttl: {
      AccessToken: () => seconds,
      Grant: 10_000,
      Interaction: 1000,
      RefreshToken: 10_000,
      Session: 1000,
    },
    cookies: { keys: ['test'] },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async (_: object, resource: string) => ({
          scope: 'files:read files:write',
          audience: resource,
          accessTokenFormat: 'opaque',
        }),
        useGrantedResource: async () => true,
      },
    },
  }
  const provider = (opened.provider = new Provider(server.origin, configuration))
  provider.on('access_token.saved', ({ jti, aud }) => void valid.set(jti, String(aud)))
  provider.on('access_token.destroyed', ({ jti }) => void valid.delete(jti))
  provider.on('grant.revoked', () => valid.clear())
  return { ...server, valid, seen }
}

function registered({ clientId, clientSecret, redirect }: NonNullable<ProviderOptions['client']>) {
  const grants = ['authorization_code', 'refresh_token']
  return { client_id: clientId, client_secret: clientSecret, redirect_uris: [redirect], grant_types: grants }
}

async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  agrees: boolean,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  if (!agrees) return provider.interactionFinished(request, response, { error: 'access_denied' })
  if (prompt.name === 'login')
    return provider.interactionFinished(request, response, { login: { accountId: 'ann' } })
  const grant = new provider.Grant({
    accountId: session?.accountId ?? '',
    clientId: String(params['client_id']),
  })
  grant.addOIDCScope('openid offline_access files:read files:write')
  grant.addResourceScope(String(params['resource']), 'files:read files:write')
  const consent = { grantId: await grant.save() }
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true })
}

/** Does what a browser does: follows the redirects, with cookies, until an answer is no redirect, or until the address `end`. */
export async function browse(
  address: string,
  end?: string,
): Promise<{ readonly url: string; readonly text: string }> {
  const jars = new Map<string, Map<string, string>>()
  for (let url = new URL(address), hops = 0; hops < 20; hops++) {
    if (end !== undefined && url.href.startsWith(end)) return { url: url.href, text: '' }
    const jar = jars.get(url.origin) ?? new Map<string, string>()
    jars.set(url.origin, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value] = /^([^=]+)=([^;]*)/.exec(each) ?? []
      if (value === undefined || /expires=Thu, 01 Jan 1970/.test(each)) jar.delete(name)
      else jar.set(name, value)
    }
    const next = response.headers.get('location')
    if (next === null) return { url: url.href, text: await response.text() }
    url = new URL(next, url)
  }
  throw new Error('too many redirects')
}
