import type { KindName } from '../src/reducers.ts'
import type { SessionState } from '../src/session/state.ts'
import type { Lens, LiftContext } from '../src/versions/lens.ts'
import type { OldAction } from '../src/versions/shape.ts'
import { deepFreeze } from './cases.ts'

/** The context of an action that the client `viewer` dispatches, for the tests of `actionUp`. */
export function lifting(session?: Partial<SessionState>): LiftContext {
  return {
    viewer: 'viewer',
    now: '2026-01-02T03:04:05.006Z',
    turnDuration: 1500,
    // The lenses read single keys of the session, so a test names only these.
    session: session as SessionState | undefined,
    sessionUri: session && 'ahp-session:/s',
    isSingle: () => false,
  }
}

/** The functions of a lens with frozen values, which the lens therefore cannot change. */
export function frozen(lens: Lens) {
  return {
    down: (kind: KindName, state: object) => lens.stateDown(kind, deepFreeze(state)),
    lowered: (kind: KindName, action: OldAction, states?: { before: object; after: object }) =>
      lens.actionDown(kind, deepFreeze(action), states && { viewer: 'viewer', ...deepFreeze(states) }),
    lifted: (kind: KindName, action: OldAction, context = lifting()) =>
      lens.actionUp(kind, deepFreeze(action), context),
  }
}
