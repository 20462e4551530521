import { reducer } from '../reduce.ts'
import { configured } from '../common/configured.ts'
import type { RootAction } from './actions.ts'
import type { RootState } from './state.ts'

export const reduceRoot = reducer<RootState, RootAction>({
  'root/agentsChanged': (state, { agents }) => ({ ...state, agents }),
  'root/activeSessionsChanged': (state, { activeSessions }) => ({ ...state, activeSessions }),
  'root/terminalsChanged': (state, { terminals }) => ({ ...state, terminals }),
  'root/configChanged': configured,
})
