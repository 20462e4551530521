import { tokensOf } from './tokens.ts'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { BeginSignInParams, EndSignInParams } from './extensions.ts'
import type { Core } from '../../kernel/core.ts'
import type { Link } from '../../kernel/link.ts'
import type { SignIns } from './sign-ins.ts'
import { SignInFailed } from '../../ports/authorizer.ts'
import type { Authorizer, Granted } from '../../ports/authorizer.ts'
import { authenticate, requested } from './auth.ts'

/** Sign-ins with a browser: the host gets the tokens itself, and renews them. */
export class BrowserSignIns implements SignIns {
  readonly #authorizer: Authorizer
  readonly #core: Core
  /** The sign-ins that wait for a browser, by principal and resource. */
  readonly #waiting = new Map<string, Promise<void>>()
  /** The resources whose tokens are being renewed. A server that refuses a new token must not cause another renewal. */
  readonly #renewing = new Set<string>()

  constructor(authorizer: Authorizer, core: Core) {
    this.#authorizer = authorizer
    this.#core = core
  }

  async begin(
    { principal }: Pick<Link, 'principal'>,
    { resource, redirect }: BeginSignInParams,
  ): Promise<{ readonly url: string }> {
    const found = requested(this.#core, principal, resource)
    if (!found)
      throw AhpError.invalidParams(`nothing asks for a sign-in to ${JSON.stringify(resource.slice(0, 200))}`)
    if (redirect !== undefined && !isOwnRedirect(redirect))
      throw AhpError.invalidParams('redirect must be the address of this host, with the path /oauth/callback')
    const { metadata, scopes, client } = found
    const begun = await this.#authorizer
      .begin({ principal, resource: metadata, scopes, client, redirect })
      .catch((error: unknown) => Promise.reject(refusal(error)))
    const done = begun.granted.then(
      (granted) => this.#use(principal, resource, granted),
      (error: unknown) => Promise.reject(refusal(error)),
    )
    done.catch(() => {})
    this.#waiting.set(keyOf(principal, resource), done)
    return { url: begun.url }
  }

  async end({ principal }: Pick<Link, 'principal'>, { resource }: EndSignInParams): Promise<object> {
    const key = keyOf(principal, resource)
    const waiting = this.#waiting.get(key)
    if (!waiting) throw AhpError.invalidParams('no sign-in to this resource has begun')
    await waiting.finally(() => this.#waiting.get(key) === waiting && this.#waiting.delete(key))
    return {}
  }

  async renew(principal: string, resource: Uri): Promise<boolean> {
    const key = keyOf(principal, resource)
    if (this.#renewing.has(key) || !this.#authorizer.remembers(principal, resource)) return false
    this.#renewing.add(key)
    try {
      const granted = await this.#authorizer.refresh(principal, resource)
      if (!granted) return false
      await this.#use(principal, resource, granted)
      return true
    } catch {
      await this.#authorizer.revoke(principal, resource)
      return false
    } finally {
      this.#renewing.delete(key)
    }
  }

  forget(principal: string, resource: Uri): void {
    void this.#authorizer.revoke(principal, resource)
  }

  async #use(principal: string, resource: Uri, { token, expiresIn }: Granted): Promise<void> {
    await authenticate(
      this.#core,
      { principal },
      { resource, token, ...(expiresIn !== undefined && { expiresIn }) },
    )
    if (expiresIn !== undefined) this.#renewInTime(principal, resource, token, expiresIn)
  }

  /** Renews a token some time before it expires, as long as it is in use. */
  #renewInTime(principal: string, resource: Uri, token: string, expiresIn: number): void {
    const { world } = this.#core
    const tokens = tokensOf(this.#core)
    const ms = Math.min(expiresIn * 800, 24 * 3_600_000)
    world.later(ms, () => {
      if (tokens.of(principal, resource) !== token) return
      void this.#authorizer.refresh(principal, resource).then((granted) => {
        const metadata = tokens.metadataOf(principal, resource)
        if (!granted || !metadata || tokens.of(principal, resource) !== token) return
        tokens.keep(principal, metadata, granted.token, granted.expiresIn)
        if (granted.expiresIn !== undefined)
          this.#renewInTime(principal, resource, granted.token, granted.expiresIn)
      })
    })
  }
}

/** The authorization code must come back to this host and to no other. Without TLS that is safe only on the machine of the browser. */
function isOwnRedirect(redirect: string): boolean {
  return /^(?:https:\/\/[^/?#@\s\\]+|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?)\/oauth\/callback$/.test(
    redirect,
  )
}

function refusal(error: unknown): unknown {
  return error instanceof SignInFailed ? AhpError.conflict(error.message) : error
}

function keyOf(principal: string, resource: Uri): string {
  return `${principal}\n${resource}`
}
