import type { ConfirmationOption, ToolCallState } from '@atrium/protocol/chat/tool'
import { isApproved } from './tool-call.ts'
import type { ToolCalls } from './tool-calls.ts'
import type { PermissionRequest, ToolCallContent, ToolCallUpdate } from './process/schema.ts'

type PermissionOption = NonNullable<PermissionRequest['options']>[number]

type PermissionOutcome =
  | { readonly outcome: 'selected'; readonly optionId: string }
  | { readonly outcome: 'cancelled' }

/** Answers `session/request_permission`: asks users about the call, and returns their decision as an outcome for the agent. */
export async function askPermission(
  { toolCall = {}, options = [] }: PermissionRequest,
  calls: ToolCalls,
): Promise<{ readonly outcome: PermissionOutcome; readonly denied: boolean }> {
  const { reason, content } = splitReason(toolCall)
  // The status is left out: the question itself makes the call pending.
  const call = await calls.update({ ...toolCall, status: null, content }, true)
  const choices = choicesOf(options)
  const confirmationOptions = choices.map(({ option }) => option)
  const question = {
    ...(confirmationOptions.length > 0 && { options: confirmationOptions }),
    ...(reason && { reason }),
  }
  const decided = await calls.ask(call, question).catch(() => undefined)
  return { outcome: outcomeOf(decided, choices), denied: decided?.status === 'cancelled' }
}

/** Separates the text of a permission request from its other content. The text is the reason of the request, and no output of the call. */
function splitReason({ content }: ToolCallUpdate): {
  readonly reason: string
  readonly content: readonly ToolCallContent[] | null
} {
  const items: readonly ToolCallContent[] = Array.isArray(content) ? content : []
  const texts = items.flatMap((item) =>
    item?.type === 'content' && item.content?.type === 'text' ? [String(item.content.text)] : [],
  )
  const rest = items.filter((item) => item?.type !== 'content')
  return { reason: texts.join('\n').slice(0, maxReasonLength), content: rest.length > 0 ? rest : null }
}

const maxReasonLength = 2000

/** An option of the agent's permission request, and the same option as users see it. */
export interface PermissionChoice {
  readonly optionId: string
  readonly option: ConfirmationOption
}

/**
 * Returns the agent's options as choices for users. The ids are made from the meaning of an option and not from the agent's id.
 * Otherwise an agent could use the id of one of the host's own options, and the host would store a permission.
 */
export function choicesOf(options: readonly PermissionOption[]): readonly PermissionChoice[] {
  const usedIds = new Set<string>()
  const choices = options.slice(0, maxOptions).flatMap(({ optionId, name, kind = '' }) => {
    if (typeof optionId !== 'string') return []
    const { word, label: defaultLabel, approves } = meanings.get(kind) ?? unknownKind
    let id = `agent.${word}`
    for (let n = 2; usedIds.has(id); n++) id = `agent.${word}-${n}`
    usedIds.add(id)
    const label = name === undefined || name === kind ? (defaultLabel ?? optionId) : name
    const option = { id, label: label.slice(0, 200), kind: approves ? 'approve' : 'deny' }
    return [{ optionId, option, rank: ranks.indexOf(word) }]
  })
  // The narrowest approval comes first: clients may take the first one.
  return choices.toSorted((a, b) => a.rank - b.rank)
}

/** Returns the outcome for the agent: the option that the user chose, else the narrowest option with the same meaning. */
function outcomeOf(
  decided: ToolCallState | undefined,
  choices: readonly PermissionChoice[],
): PermissionOutcome {
  const approved = decided !== undefined && isApproved(decided)
  const denied = decided?.status === 'cancelled' && decided.reason === 'denied'
  // No user has decided: the agent completed the call itself, or the turn has ended.
  if (!approved && !denied) return { outcome: 'cancelled' }
  const chosenId = 'selectedOption' in decided ? decided.selectedOption?.id : undefined
  const sameMeaning = choices.filter(({ option }) => option.kind === (approved ? 'approve' : 'deny'))
  const found = sameMeaning.find(({ option }) => option.id === chosenId) ?? sameMeaning[0]
  return found ? { outcome: 'selected', optionId: found.optionId } : { outcome: 'cancelled' }
}

/** More options than this are dropped: no user can choose among them. */
const maxOptions = 50

const ranks = ['once', 'always', 'deny', 'never', 'other']
const unknownKind = { word: 'other', label: undefined, approves: false }
/** By the option kinds of ACP. */
const meanings: ReadonlyMap<
  string,
  { readonly word: string; readonly label: string; readonly approves: boolean }
> = new Map([
  ['allow_once', { word: 'once', label: 'Allow once', approves: true }],
  ['allow_always', { word: 'always', label: 'Always allow', approves: true }],
  ['reject_once', { word: 'deny', label: 'Deny', approves: false }],
  ['reject_always', { word: 'never', label: 'Always deny', approves: false }],
])
