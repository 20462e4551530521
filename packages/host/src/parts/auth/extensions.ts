import { id, object, optional } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'

const begin = {
  resource: id,
  /**
   * The address of this host to which the browser returns, with the path `/oauth/callback`. Absent: the address at which the host
   * listens.
   */
  redirect: optional(id),
}
/** The params of `x-atrium/beginSignIn`. */
export interface BeginSignInParams extends Infer<typeof begin> {}
export const BeginSignInParams = object<BeginSignInParams>('BeginSignInParams', begin)

const end = { resource: id }
/** The params of `x-atrium/endSignIn`, which is answered when the sign-in that was begun has ended. */
export interface EndSignInParams extends Infer<typeof end> {}
export const EndSignInParams = object<EndSignInParams>('EndSignInParams', end)
