import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { ErrorInfo } from '@atrium/protocol/common/content'

/** An error with a message for users. Every other error that an agent throws is shown as `the agent failed`. */
export class TurnFailed extends Error {
  override readonly name = 'TurnFailed'
  readonly errorType: string
  readonly resumable: boolean

  constructor(errorType: string, message: string, resumable = false) {
    super(message)
    this.errorType = errorType
    this.resumable = resumable
  }
}

/** A failure that is over when a user has signed in to one of the resources. The turn can then be resumed. */
export class SignInRequired extends TurnFailed {
  readonly resources: readonly ProtectedResourceMetadata[]
  /** `expired`: there was a token or a key, and it was refused. */
  readonly reason: 'required' | 'expired'

  constructor(
    message: string,
    resources: readonly ProtectedResourceMetadata[],
    reason: 'required' | 'expired' = 'required',
  ) {
    super('auth-required', message, true)
    this.resources = resources
    this.reason = reason
  }
}

/** Returns the error that users see. The message of an unexpected error is not shown, because it may contain secrets (S-27). */
export function failureOf(error: unknown): ErrorInfo {
  return error instanceof TurnFailed
    ? { errorType: error.errorType, message: error.message }
    : { errorType: 'agent', message: 'the agent failed' }
}
