import type { ConfirmationOption, ToolCallState } from '@atrium/protocol/chat/tool'
import { isApproved } from './tool-call.ts'
import type { PermissionRequest } from './process/schema.ts'

type Offered = NonNullable<PermissionRequest['options']>[number]

/**
 * An agent's own choices, for people. They are called by what they mean and not as the agent calls them, so that none passes for
 * a choice of the host's own, which the host would remember.
 */
export function optionsOf(offered: readonly Offered[]): readonly Choice[] {
  const used = new Set<string>()
  const choices = offered.slice(0, mostOptions).flatMap(({ optionId, name, kind = '' }) => {
    if (typeof optionId !== 'string') return []
    const { word, label: usual, approves } = meanings.get(kind) ?? unknown
    let id = `agent.${word}`
    for (let n = 2; used.has(id); n++) id = `agent.${word}-${n}`
    used.add(id)
    const label = name === undefined || name === kind ? (usual ?? optionId) : name
    const option = { id, label: label.slice(0, 200), kind: approves ? 'approve' : 'deny' }
    return [{ optionId, option, rank: ranks.indexOf(word) }]
  })
  // Whoever takes the first yes shall have said the least.
  return choices.toSorted((a, b) => a.rank - b.rank)
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
  const approved = decided !== undefined && isApproved(decided)
  const denied = decided?.status === 'cancelled' && decided.reason === 'denied'
  // What nobody has decided is neither: the agent has ended it itself, or its turn is over.
  if (!approved && !denied) return { outcome: 'cancelled' }
  const chosen = 'selectedOption' in decided ? decided.selectedOption?.id : undefined
  const same = offered.filter(({ option }) => option.kind === (approved ? 'approve' : 'deny'))
  const found = same.find(({ option }) => option.id === chosen) ?? same[0]
  return found ? { outcome: 'selected', optionId: found.optionId } : { outcome: 'cancelled' }
}

/** More nobody can choose from. */
const mostOptions = 50

const ranks = ['once', 'always', 'deny', 'never', 'other']
const unknown = { word: 'other', label: undefined, approves: false }
const meanings: ReadonlyMap<
  string,
  { readonly word: string; readonly label: string; readonly approves: boolean }
> = new Map([
  ['allow_once', { word: 'once', label: 'Allow once', approves: true }],
  ['allow_always', { word: 'always', label: 'Always allow', approves: true }],
  ['reject_once', { word: 'deny', label: 'Deny', approves: false }],
  ['reject_always', { word: 'never', label: 'Always deny', approves: false }],
])
