import { isJsonObject } from '@atrium/protocol/json'
import type { SessionState } from '@atrium/protocol/session/state'

/** The words for an agent that cannot be made to ask before it acts. */
export const unasked = 'acts without asking'

/** Whether the agent of a session acts without asking. The host says so in the state of the session. */
export function isUnasked({ _meta }: Partial<Pick<SessionState, '_meta'>>): boolean {
  const own = _meta?.['x-atrium']
  return isJsonObject(own) && own['actsWithoutAsking'] === true
}
