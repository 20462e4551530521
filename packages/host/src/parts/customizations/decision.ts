import type { CustomizationEnablement } from '@atrium/protocol/session/customization'
import { isEnabled, sessionDecision } from './enablement.ts'
import type { Known } from './entry.ts'

/**
 * Returns the decision of users about a customization that holds for this session alone; undefined if there is none.
 * `before` is the customization in the session's state. A folder, and a child that is not an MCP server, has only the
 * flag `enabled` there, so the decision is made from the flag.
 */
export function decisionIn(before: Known | undefined): CustomizationEnablement | undefined {
  if (!before) return undefined
  if ('enabled' in before && before.type !== 'directory')
    return before.enabled === undefined ? undefined : ({ kind: 'session', enabled: before.enabled } as const)
  if (before.type === 'directory')
    return before.enabled ? undefined : ({ kind: 'session', enabled: false } as const)
  return 'enablement' in before ? sessionDecision(before.enablement) : undefined
}

/** Whether a customization in the state of a session is enabled. */
export function isOn(item: Known): boolean {
  if ('enablement' in item) return isEnabled(item.enablement)
  return !('enabled' in item) || item.enabled !== false
}
