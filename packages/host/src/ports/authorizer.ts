import type { OAuthClient, ProtectedResourceMetadata } from '@atrium/protocol/common/auth'

/** A token that an authorization server has given. */
export interface Granted {
  readonly token: string
  /** In seconds. Absent: the server does not say when the token expires. */
  readonly expiresIn?: number
}

export interface SignInRequest {
  readonly principal: string
  readonly resource: ProtectedResourceMetadata
  /** The scopes that the resource asked for. Absent: those that its metadata names. */
  readonly scopes?: readonly string[] | undefined
  /** The client that was registered by hand. Absent: the authorizer registers one. */
  readonly client?: OAuthClient | undefined
  /** The address at this host to which the browser returns. Absent: the authorizer knows one. */
  readonly redirect?: string | undefined
}

/** Gets tokens for people from authorization servers (OAuth 2.1), with a browser of theirs. */
export interface Authorizer {
  /**
   * Begins a sign-in. Resolves with the address for the browser. `granted` resolves when the person has agreed. Both reject with a
   * `SignInFailed`.
   */
  begin(request: SignInRequest): Promise<{ readonly url: string; readonly granted: Promise<Granted> }>
  /** Whether a person has agreed before, so that a new token may be had without a browser. */
  remembers(principal: string, resource: string): boolean
  /** Gets a new token without a browser; undefined if that is not possible. */
  refresh(principal: string, resource: string): Promise<Granted | undefined>
  /** Revokes the tokens at the authorization server, and forgets them. Never rejects. */
  revoke(principal: string, resource: string): Promise<void>
}

/** A sign-in that has failed. The message is a sentence for users, without secrets. */
export class SignInFailed extends Error {
  override readonly name = 'SignInFailed'
}
