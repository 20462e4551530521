import type { SessionInputRequest, SessionState } from '../session/state.ts'
import { Activity, inputNeededBit, withActivity } from '../status.ts'
import { orAbsent, patch, remove, upsert } from '../update.ts'
import type { VersionRules } from './table.ts'
import { v08dev } from './v0-8-dev.ts'

/**
 * Sets the open requests. At 0.7 a session needs input while any request is open. Since 0.8, requests that wait for a
 * client's tool do not count.
 */
function withNeeded(state: SessionState, needed: readonly SessionInputRequest[]): SessionState {
  const status =
    needed.length > 0
      ? withActivity(state.status, Activity.InputNeeded)
      : (state.status & ~inputNeededBit) >>> 0
  return patch(state, { inputNeeded: orAbsent(needed), status })
}

export const v07: VersionRules = {
  ...v08dev,
  session: {
    ...v08dev.session,
    'session/inputNeededSet': (state: SessionState, { request }: { readonly request: SessionInputRequest }) =>
      withNeeded(state, upsert(state.inputNeeded, 'id', request)),
    'session/inputNeededRemoved': (state: SessionState, { id }: { readonly id: string }) => {
      const needed = state.inputNeeded ?? []
      const left = remove(needed, 'id', id)
      return left === needed ? state : withNeeded(state, left)
    },
  },
}
