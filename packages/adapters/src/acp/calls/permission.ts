import type { ConfirmationOption, ToolCallState } from '@atrium/protocol/chat/tool'
import { isApproved } from './tool-call.ts'
import type { ToolCalls } from './tool-calls.ts'
import type { PermissionRequest, ToolCallContent, ToolCallUpdate } from '../process/schema.ts'

type PermissionOption = NonNullable<PermissionRequest['options']>[number]

type PermissionOutcome =
  | { readonly outcome: 'selected'; readonly optionId: string }
  | { readonly outcome: 'cancelled' }

/** Answers `session/request_permission`: asks users about the call, and returns the decision as an outcome for the agent. */
export async function askPermission(
  { toolCall = {}, options = [] }: PermissionRequest,
  calls: ToolCalls,
): Promise<{ readonly outcome: PermissionOutcome; readonly denied: boolean }> {
  const { reason, content } = splitReason(toolCall)
  // The agent's status of the call is ignored, because the question makes the call pending.
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

/**
 * Separates the text of a permission request from its other content. The text is the reason for the request. It is not output
 * of the call.
 */
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
 * Returns the agent's options as choices for users. The id of a choice is made from the meaning of the option. The
 * agent's own id is not used: it could equal the id of one of the host's options, and the host would then store a
 * permission that no user gave.
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
  // The narrowest approval comes first, because a client may take the first choice without asking.
  return choices.toSorted((a, b) => a.rank - b.rank)
}

/**
 * Returns the outcome for the agent: the option that the user chose. If the user approved or denied without choosing
 * an option, this is the narrowest option that approves or denies.
 */
function outcomeOf(
  decided: ToolCallState | undefined,
  choices: readonly PermissionChoice[],
): PermissionOutcome {
  const approved = decided !== undefined && isApproved(decided)
  const denied = decided?.status === 'cancelled' && decided.reason === 'denied'
  // No user has decided. Either the agent completed the call itself, or the turn has ended.
  if (!approved && !denied) return { outcome: 'cancelled' }
  const chosenId = 'selectedOption' in decided ? decided.selectedOption?.id : undefined
  const sameMeaning = choices.filter(({ option }) => option.kind === (approved ? 'approve' : 'deny'))
  const found = sameMeaning.find(({ option }) => option.id === chosenId) ?? sameMeaning[0]
  return found ? { outcome: 'selected', optionId: found.optionId } : { outcome: 'cancelled' }
}

/** The maximum number of options. The rest is dropped, because no user can choose among so many. */
const maxOptions = 50

const ranks = ['once', 'always', 'deny', 'never', 'other']
const unknownKind = { word: 'other', label: undefined, approves: false }
/** The meaning of each option kind of ACP. */
const meanings: ReadonlyMap<
  string,
  { readonly word: string; readonly label: string; readonly approves: boolean }
> = new Map([
  ['allow_once', { word: 'once', label: 'Allow once', approves: true }],
  ['allow_always', { word: 'always', label: 'Always allow', approves: true }],
  ['reject_once', { word: 'deny', label: 'Deny', approves: false }],
  ['reject_always', { word: 'never', label: 'Always deny', approves: false }],
])
