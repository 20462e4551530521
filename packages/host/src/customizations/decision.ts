import type { CustomizationEnablement } from '@atrium/protocol/session/customization'
import { isEnabled, sessionDecision } from './enablement.ts'
import type { Known } from './entry.ts'

/**
 * Returns the decision for the session that a customization in the session's state holds. A folder, and a child that is not an
 * MCP server, have only the flag `enabled`, from which the decision is made.
 */
export function decisionIn(before: Known | undefined): CustomizationEnablement | undefined {
  if (!before) return undefined
  if ('enabled' in before && before.type !== 'directory')
    return before.enabled === undefined ? undefined : ({ kind: 'session', enabled: before.enabled } as const)
  if (before.type === 'directory')
    return before.enabled ? undefined : ({ kind: 'session', enabled: false } as const)
  return 'enablement' in before ? sessionDecision(before.enablement) : undefined
}

/** Whether a customization of a state is enabled. */
export function isOn(item: Known): boolean {
  if ('enablement' in item) return isEnabled(item.enablement)
  return !('enabled' in item) || item.enabled !== false
}
