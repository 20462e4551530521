import { choices } from '@atrium/host/access/choices'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type {
  ConfirmationOption,
  ToolCallPendingConfirmation,
  ToolCallPendingResult,
} from '@atrium/protocol/chat/tool'
import { onOneLine } from '../terminal/output.ts'

/** A tool call that waits for an approval, or whose result does. */
export type Call = ToolCallPendingConfirmation | ToolCallPendingResult

/** One of the answers to a request for approval. */
export interface Choice {
  readonly key: string
  readonly label: string
  readonly approved: boolean
  readonly optionId?: string
  /** What the user types after this choice: another input for the tool, or a reason. Undefined: nothing. */
  readonly types?: 'input' | 'reason'
}

/** Returns the action of a choice, with the typed input or reason. */
export function decision(turnId: string, call: Call, choice: Choice, typed?: string): ChatAction {
  const { toolCallId } = call
  const { approved, optionId: selectedOptionId } = choice
  if (call.status === 'pending-result-confirmation')
    return { type: 'chat/toolCallResultConfirmed', turnId, toolCallId, approved }
  const chosen = { turnId, toolCallId, ...(selectedOptionId !== undefined && { selectedOptionId }) }
  const type = 'chat/toolCallConfirmed'
  if (approved) {
    const edited = choice.types === 'input' && typed !== undefined && { editedToolInput: typed }
    return { type, ...chosen, approved: true, confirmed: 'user-action', ...edited }
  }
  const why = typed !== undefined && typed.trim() !== '' && { reasonMessage: typed }
  return { type, ...chosen, approved: false, reason: 'denied', ...why }
}

/**
 * Returns the action of an approval that the user gave in advance: once, or for the session if the call offers that.
 */
export function approvalInAdvance(turnId: string, call: Call, scope: 'once' | 'session'): ChatAction {
  const offered = choicesOf(call).filter(({ approved, types }) => approved && !types)
  const matching =
    offered.find(({ optionId }) => optionId === choices[scope]) ??
    offered.find(({ optionId = '' }) => scope === 'session' && optionId.endsWith('.always'))
  const choice = matching ?? offered[0] ?? yes
  return decision(turnId, call, choice)
}

/** Returns the choices of a call, those that approve first. */
export function choicesOf(call: Call): readonly Choice[] {
  if (call.status === 'pending-result-confirmation') return [yes, no]
  const options = call.options ?? []
  const own = options.length > 0 && options.every(({ id }) => letters.has(id))
  const offered = own ? options.flatMap(({ id }) => letters.get(id) ?? []) : agentChoices(options)
  const basic = offered.length === 0 ? [yes, no] : offered
  const edit = call.editable === true && typeof call.toolInput === 'string' ? [editing(own)] : []
  const why: readonly Choice[] = basic.some(({ types }) => types === 'reason') ? [] : [reason]
  return [
    ...basic.filter(({ approved }) => approved),
    ...edit,
    ...basic.filter(({ approved }) => !approved),
    ...why,
  ]
}

/**
 * The choices of an agent. Their keys are those of the host's own choices with the same meaning, whatever the agent calls them.
 * If several choices have one meaning, the first has the letter, and the others have numbers.
 */
function agentChoices(options: readonly ConfirmationOption[]): readonly Choice[] {
  const used = new Set<string>()
  return options.slice(0, 9).map(({ id, label, kind }, at) => {
    const approved = kind === 'approve'
    const letter = letterOf(id, label, approved)
    const key = used.has(letter) ? String(at + 1) : letter
    used.add(key)
    return { key, label: onOneLine(label), approved, optionId: id }
  })
}

/** The letter of an agent's choice. The host makes the id of the choice from its meaning (N41). */
function letterOf(id: string, label: string, approved: boolean): string {
  if (id.startsWith('agent.always')) return /\bsession\b/i.test(label) ? 's' : 'a'
  if (id.startsWith('agent.never')) return 'd'
  return approved ? 'y' : 'n'
}

const yes: Choice = { key: 'y', label: 'yes', approved: true }
const no: Choice = { key: 'n', label: 'no', approved: false }
const reason: Choice = { key: 'r', label: 'no, because', approved: false, types: 'reason' }
const editing = (own: boolean): Choice => ({
  key: 'e',
  label: 'edit',
  approved: true,
  types: 'input',
  ...(own && { optionId: choices.once }),
})
const letters: ReadonlyMap<string, Choice> = new Map([
  [choices.once, { key: 'y', label: 'once', approved: true, optionId: choices.once }],
  [choices.session, { key: 's', label: 'this session', approved: true, optionId: choices.session }],
  [choices.folder, { key: 'a', label: 'always in this folder', approved: true, optionId: choices.folder }],
  [choices.deny, { ...no, optionId: choices.deny }],
  [choices.denyWhy, { ...reason, optionId: choices.denyWhy }],
])
