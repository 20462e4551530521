import { reducer } from '../reduce.ts'
import { patch, remove, upsert } from '../update.ts'
import type { AutomationAction, AutomationRunAction } from './actions.ts'
import type { AutomationRunState, AutomationState } from './state.ts'

export const reduceAutomation = reducer<AutomationState, AutomationAction>({
  // Requests change no state. The host responds with `automation/set`.
  'automation/createRequested': (state) => state,
  'automation/updateRequested': (state) => state,

  'automation/set': (state, { automation }) => ({
    ...state,
    entries: upsert(state.entries, 'resource', automation),
  }),
  'automation/removed': (state, { resource }) => {
    const entries = remove(state.entries, 'resource', resource)
    return entries === state.entries ? state : { ...state, entries }
  },
})

export const reduceAutomationRun = reducer<AutomationRunState, AutomationRunAction>({
  'automationRun/lifecycleChanged': (state, { lifecycle }) => ({ ...state, lifecycle }),

  'automationRun/sessionSet': (state, { session }) =>
    state.sessions.includes(session) ? state : { ...state, sessions: [...state.sessions, session] },

  'automationRun/sessionRemoved': (state, { session }) => {
    const at = state.sessions.indexOf(session)
    if (at < 0) return state
    const primary = state.primarySession === session && { primarySession: undefined }
    return patch(state, { sessions: state.sessions.toSpliced(at, 1), ...primary })
  },

  'automationRun/primarySessionChanged': (state, { primarySession }) => patch(state, { primarySession }),
  'automationRun/cancelRequested': (state) => state,
})
