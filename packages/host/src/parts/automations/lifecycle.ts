import type { AutomationRunLifecycle } from '@atrium/protocol/automation/state'

/** Whether a run has not ended. */
export function isActive({ lifecycle }: { readonly lifecycle: AutomationRunLifecycle }): boolean {
  return lifecycle.status === 'pending' || lifecycle.status === 'running'
}
