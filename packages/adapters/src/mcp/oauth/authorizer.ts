import { randomBytes } from 'node:crypto'
import { SignInFailed } from '@atrium/host/ports/authorizer'
import type { Authorizer, Granted, SignInRequest } from '@atrium/host/ports/authorizer'
import type { World } from '@atrium/host/ports/world'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/client'
import { loadLibrary } from '../library.ts'
import { findServer, register, scopesFor } from './authorization-server.ts'
import type { AuthorizationServer } from './authorization-server.ts'
import { Grants } from './grants.ts'
import type { Grant } from './grants.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { revokeAt } from './revocation.ts'

export interface AuthorizerOptions {
  readonly later: World['later']
  /** Where the refresh tokens are kept. Absent: in memory only. */
  readonly file?: string
  /** The HTTP address of the host, if it has one. */
  readonly address?: () => string | undefined
}

/** A sign-in that waits for the browser. */
interface Attempt {
  readonly request: SignInRequest
  readonly redirect: string
  readonly server: AuthorizationServer
  readonly client: OAuthClientInformationMixed
  readonly codeVerifier: string
  readonly resolve: (granted: Granted) => void
  readonly reject: (error: SignInFailed) => void
  readonly cancelTimer: () => void
}

/** The sign-ins to remote MCP servers by OAuth 2.1: authorization code with PKCE, for a client that registers itself. */
export class OAuthAuthorizer implements Authorizer {
  readonly #later: World['later']
  readonly #address: () => string | undefined
  readonly #grants: Grants
  /** By `state`, which nobody can guess. */
  readonly #attempts = new Map<string, Attempt>()
  /** By authorization server and redirect address. */
  readonly #clients = new Map<string, OAuthClientInformationMixed>()

  private constructor({ later, address = () => undefined }: AuthorizerOptions, grants: Grants) {
    this.#later = later
    this.#address = address
    this.#grants = grants
  }

  static async open(options: AuthorizerOptions): Promise<OAuthAuthorizer> {
    return new OAuthAuthorizer(options, await Grants.open(options.file))
  }

  async begin(request: SignInRequest) {
    if (this.#attempts.size >= maxAttempts)
      throw new SignInFailed('Too many sign-ins wait for a browser. Finish one of them first.')
    try {
      return await this.#begin(request)
    } catch (error) {
      throw failureOf('The sign-in could not begin', error)
    }
  }

  async #begin(request: SignInRequest) {
    const { resource: metadata, scopes } = request
    const { redirect = this.#redirect() } = request
    const library = await loadLibrary()
    const resource = new URL(metadata.resource)
    const fetchFn = guardedFetch(resource)
    const server = await findServer(metadata, library, fetchFn)
    const scope = scopesFor(scopes, metadata, server)
    const known = `${server.url}\n${redirect}\n${scope ?? ''}`
    const client =
      registered(request) ??
      this.#clients.get(known) ??
      (await register(server, library, { redirect, scope, fetchFn }))
    this.#clients.set(known, client)
    const state = randomBytes(32).toString('base64url')
    const { authorizationUrl, codeVerifier } = await library.startAuthorization(server.url, {
      ...(server.metadata && { metadata: server.metadata }),
      clientInformation: client,
      redirectUrl: redirect,
      ...(scope !== undefined && { scope }),
      state,
      resource,
    })
    const granted = new Promise<Granted>((resolve, reject) => {
      const cancelTimer = this.#later(attemptMs, () => {
        this.#attempts.delete(state)
        reject(new SignInFailed('Nobody has signed in within 10 minutes. Begin again.'))
      })
      this.#attempts.set(state, {
        request,
        redirect,
        server,
        client,
        codeVerifier,
        resolve,
        reject,
        cancelTimer,
      })
    })
    // The caller may ask for the outcome later.
    granted.catch(() => {})
    return { url: authorizationUrl.href, granted }
  }

  /** Takes the parameters with which the browser has come back. Returns a sentence for the person. */
  async complete(params: URLSearchParams): Promise<{ readonly ok: boolean; readonly text: string }> {
    const state = params.get('state') ?? ''
    const attempt = this.#attempts.get(state)
    if (!attempt) return { ok: false, text: 'This sign-in is not known, or has ended. Begin again.' }
    this.#attempts.delete(state)
    attempt.cancelTimer()
    try {
      attempt.resolve(await this.#exchange(attempt, params))
      return { ok: true, text: 'You are signed in. You can close this window.' }
    } catch (error) {
      const failure = failureOf('The sign-in failed', error)
      attempt.reject(failure)
      return { ok: false, text: failure.message }
    }
  }

  remembers(principal: string, resource: string): boolean {
    return this.#grants.get(principal, resource)?.refreshToken !== undefined
  }

  async refresh(principal: string, resource: string): Promise<Granted | undefined> {
    const grant = this.#grants.get(principal, resource)
    if (grant?.refreshToken === undefined) return undefined
    const { server, client, refreshToken } = grant
    const library = await loadLibrary()
    try {
      const tokens = await library.refreshAuthorization(server.url, {
        ...(server.metadata && { metadata: server.metadata }),
        clientInformation: client,
        refreshToken,
        resource,
        fetchFn: guardedFetch(new URL(resource)),
      })
      return await this.#keep(principal, resource, grant, tokens)
    } catch (error) {
      // After any other error the authorization server may only be away, and the grant is kept.
      if (error instanceof library.OAuthError) await this.#grants.delete(principal, resource)
      return undefined
    }
  }

  async revoke(principal: string, resource: string): Promise<void> {
    const grant = this.#grants.get(principal, resource)
    if (!grant) return
    await this.#grants.delete(principal, resource).catch(() => {})
    await revokeAt(grant, guardedFetch(new URL(resource))).catch(() => {})
  }

  #redirect(): string {
    const address = this.#address()
    if (address === undefined)
      throw new SignInFailed('A browser cannot come back to this host: it has no address.')
    return new URL('/oauth/callback', address).href
  }

  async #exchange(attempt: Attempt, params: URLSearchParams): Promise<Granted> {
    const { request, redirect, server, client, codeVerifier } = attempt
    const error = params.get('error')
    if (error !== null) throw new SignInFailed(`The authorization server refused: ${error.slice(0, 100)}.`)
    const library = await loadLibrary()
    const { resource } = request.resource
    const iss = params.get('iss')
    const tokens = await library.exchangeAuthorization(server.url, {
      ...(server.metadata && { metadata: server.metadata }),
      clientInformation: client,
      authorizationCode: params.get('code') ?? '',
      ...(iss !== null && { iss }),
      codeVerifier,
      redirectUri: redirect,
      resource: new URL(resource),
      fetchFn: guardedFetch(new URL(resource)),
    })
    return this.#keep(request.principal, resource, { server, client }, tokens)
  }

  async #keep(principal: string, resource: string, grant: Grant, tokens: OAuthTokens): Promise<Granted> {
    const { access_token: token, refresh_token: refreshToken, expires_in: expiresIn } = tokens
    const kept = { ...grant, accessToken: token, ...(refreshToken !== undefined && { refreshToken }) }
    await this.#grants.set(principal, resource, kept)
    return { token, ...(expiresIn !== undefined && expiresIn >= 1 && { expiresIn: Math.floor(expiresIn) }) }
  }
}

/** The client that a person has registered by hand, and has written into the config. */
function registered({ client }: SignInRequest): OAuthClientInformationMixed | undefined {
  if (!client) return undefined
  const { clientId: id, clientSecret: secret } = client
  return { client_id: id, ...(secret !== undefined && { client_secret: secret }) }
}

/** Returns a failure for users. The texts of an authorization server are shortened; they have no tokens of ours. */
function failureOf(what: string, error: unknown): SignInFailed {
  if (error instanceof SignInFailed) return error
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return new SignInFailed(`${what}: ${line.slice(0, 300)}`)
}

const attemptMs = 600_000
const maxAttempts = 100
