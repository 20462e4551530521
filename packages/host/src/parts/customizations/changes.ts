import type { SessionAction } from '@atrium/protocol/session/actions'
import type { Customization } from '@atrium/protocol/session/customization'
import { equal } from '../../kernel/log/equal.ts'

type List = readonly Customization[]

/**
 * Returns the actions that turn the list `before` into `after`. One changed or removed item is one action. Several
 * changes, or a different order, are one action that replaces the whole list.
 */
export function changesTo(before: List, after: List): readonly SessionAction[] {
  const removed = before.filter(({ id }) => !after.some((each) => each.id === id))
  const changed = after.filter((each) => !before.some((one) => one.id === each.id && equal(one, each)))
  const [gone] = removed
  const [next] = changed
  if (!gone && !next) return inOrder(before, after) ? [] : [replaced(after)]
  if (!inOrder(before, after) || removed.length + changed.length > 1) return [replaced(after)]
  return gone
    ? [{ type: 'session/customizationRemoved', id: gone.id }]
    : next
      ? [{ type: 'session/customizationUpdated', customization: next }]
      : []
}

function replaced(customizations: List): SessionAction {
  return { type: 'session/customizationsChanged', customizations }
}

/**
 * Whether the items that stay are the first items of `after`, in the order of `before`. New items come behind them.
 */
function inOrder(before: List, after: List): boolean {
  const kept = before.filter(({ id }) => after.some((each) => each.id === id))
  return kept.every(({ id }, at) => after[at]?.id === id)
}
