import type { ConfirmationOption, ToolCallState } from '@atrium/protocol/chat/tool'
import type { PermissionRequest } from './agent-acp-wire.ts'

type Offered = NonNullable<PermissionRequest['options']>[number]

/**
 * An agent's own choices, for people. They are called by what they mean and not as the agent calls them, so that none passes for
 * a choice of the host's own, which the host would remember.
 */
export function optionsOf(offered: readonly Offered[]): readonly Choice[] {
  const used = new Set<string>()
  return offered.flatMap(({ optionId, name, kind = '' }) => {
    if (typeof optionId !== 'string') return []
    const meaning = labels.has(kind) ? kind : 'other'
    let id = meaning
    for (let n = 2; used.has(id); n++) id = `${meaning}-${n}`
    used.add(id)
    const label = name === undefined || name === kind ? (labels.get(kind) ?? optionId) : name
    const approves = kind.startsWith('allow') ? 'approve' : 'deny'
    return [{ optionId, option: { id, label: label.slice(0, 200), kind: approves } }]
  })
}

/** A choice as people see it, and as its agent calls it. */
export interface Choice {
  readonly optionId: string
  readonly option: ConfirmationOption
}

/** What an agent is told of what people have decided: their own choice, else the narrowest that says the same. */
export function outcomeOf(
  decided: ToolCallState | undefined,
  offered: readonly Choice[],
): { readonly outcome: 'selected'; readonly optionId: string } | { readonly outcome: 'cancelled' } {
  const approved = decided?.status === 'running'
  const chosen = decided && 'selectedOption' in decided ? decided.selectedOption?.id : undefined
  const same = offered.filter(({ option }) => option.kind === (approved ? 'approve' : 'deny'))
  const found =
    same.find(({ option }) => option.id === chosen) ??
    same.find(({ option }) => option.id.endsWith('_once')) ??
    same[0]
  return found && decided ? { outcome: 'selected', optionId: found.optionId } : { outcome: 'cancelled' }
}

const labels: ReadonlyMap<string, string> = new Map([
  ['allow_once', 'Allow once'],
  ['allow_always', 'Always allow'],
  ['reject_once', 'Deny'],
  ['reject_always', 'Always deny'],
])
