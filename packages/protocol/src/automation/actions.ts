import { client, host } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { id, optional } from '../schema.ts'
import {
  AutomationDefinition,
  AutomationDefinitionChanges,
  AutomationEntry,
  AutomationRunLifecycle,
} from './state.ts'

export const automationActions = {
  'automation/createRequested': client({ resource: id, definition: AutomationDefinition }),
  'automation/updateRequested': client({ resource: id, changes: AutomationDefinitionChanges }),
  'automation/set': host({ automation: AutomationEntry }),
  'automation/removed': client({ resource: id }),
}
export type AutomationAction = ActionsOf<typeof automationActions>

export const automationRunActions = {
  'automationRun/lifecycleChanged': host({ lifecycle: AutomationRunLifecycle }),
  'automationRun/sessionSet': host({ session: id }),
  'automationRun/sessionRemoved': host({ session: id }),
  'automationRun/primarySessionChanged': host({ primarySession: optional(id) }),
  'automationRun/cancelRequested': client({}),
}
export type AutomationRunAction = ActionsOf<typeof automationRunActions>
