import { reducer } from '../reduce.ts'
import { configChanged } from '../common/config-changed.ts'
import type { RootAction } from './actions.ts'
import type { RootState } from './state.ts'

export const reduceRoot = reducer<RootState, RootAction>({
  'root/agentsChanged': (state, { agents }) => ({ ...state, agents }),
  'root/activeSessionsChanged': (state, { activeSessions }) => ({ ...state, activeSessions }),
  'root/terminalsChanged': (state, { terminals }) => ({ ...state, terminals }),
  'root/configChanged': configChanged,
})
