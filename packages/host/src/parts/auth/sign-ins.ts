import type { Uri } from '@atrium/protocol/channel'
import { defineKey } from '../../kernel/key.ts'
import type { BeginSignInParams, EndSignInParams } from './extensions.ts'

/** Who signs in. */
interface Person {
  readonly principal: string
}

/** The sign-ins with a browser, as the other parts of the core use them. */
export interface SignIns {
  /** Begins a sign-in to a resource that is asked for. Resolves with the address that a person opens in a browser. */
  begin(link: Person, params: BeginSignInParams): Promise<{ readonly url: string }>
  /** Resolves when the sign-in has succeeded. Rejects with the reason if it has failed. */
  end(link: Person, params: EndSignInParams): Promise<object>
  /**
   * Gets a new token for a resource without a browser, if a person has agreed before. Resolves with true if the new token was
   * accepted.
   */
  renew(principal: string, resource: Uri): Promise<boolean>
  /** Revokes what a person has agreed to. */
  forget(principal: string, resource: Uri): void
}

/** Undefined if the host was started without an authorizer. */
export const signInsOf = defineKey<SignIns | undefined>('sign-ins')
