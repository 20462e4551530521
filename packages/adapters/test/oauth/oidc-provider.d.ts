/** The parts of `oidc-provider` that the tests use. The package has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Interaction {
    readonly prompt: { readonly name: string }
    readonly params: { readonly [name: string]: unknown }
    readonly session?: { readonly accountId?: string }
  }

  export interface Token {
    /** The value of an opaque token. */
    readonly jti: string
    readonly aud?: string | readonly string[]
  }

  export interface Grant {
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }

  export default class Provider {
    constructor(issuer: string, configuration: object)
    readonly Grant: new (of: { readonly accountId: string; readonly clientId: string }) => Grant
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options?: { readonly mergeWithLastSubmission: boolean },
    ): Promise<void>
    on(event: 'access_token.saved' | 'access_token.destroyed', listener: (token: Token) => void): void
    on(event: 'grant.revoked', listener: () => void): void
  }
}
