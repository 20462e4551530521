import type { ChatAction } from '@atrium/protocol/chat/actions'
import { CommandError, exits } from '../terminal/exit.ts'
import { onOneLine, sanitize } from '../terminal/output.ts'
import type { PendingRequest } from './pending-requests.ts'

/** The flags of `approve` and `deny` that shape the answer. */
export interface AnswerOptions {
  readonly option?: string
  readonly edit?: string
  readonly reason?: string
}

/** Returns the action that approves a request. */
export function approvalAction(
  { kind, id, turnId = '', options, what }: PendingRequest,
  { option, edit }: AnswerOptions,
): ChatAction {
  if (kind === 'login')
    throw new CommandError(`'${onOneLine(what)}' waits for a sign-in; give it in atrium attach.`)
  if (kind !== 'call' && (option ?? edit) !== undefined)
    throw new CommandError('--option and --edit apply only to tool approvals.', exits.usage)
  if (kind === 'form') return { type: 'chat/inputCompleted', requestId: id, response: 'accept' }
  if (kind === 'result')
    return { type: 'chat/toolCallResultConfirmed', turnId, toolCallId: id, approved: true }
  return {
    type: 'chat/toolCallConfirmed',
    turnId,
    toolCallId: id,
    approved: true,
    confirmed: 'user-action',
    ...(edit !== undefined && { editedToolInput: edit }),
    ...selectedOption(options, 'approve', option, 'once'),
  }
}

/** Returns the action that denies a request. */
export function denialAction(
  { kind, id, turnId = '', options, what }: PendingRequest,
  { option, reason }: AnswerOptions,
): ChatAction {
  if (kind === 'login')
    throw new CommandError(
      `'${onOneLine(what)}' waits for a sign-in; decline it with Esc in atrium attach, or cancel its turn.`,
    )
  if (kind === 'form') return { type: 'chat/inputCompleted', requestId: id, response: 'decline' }
  if (kind === 'result')
    return { type: 'chat/toolCallResultConfirmed', turnId, toolCallId: id, approved: false }
  return {
    type: 'chat/toolCallConfirmed',
    turnId,
    toolCallId: id,
    approved: false,
    reason: 'denied',
    ...(reason !== undefined && { reasonMessage: reason }),
    ...selectedOption(options, 'deny', option, reason === undefined ? 'deny' : 'deny-why'),
  }
}

/**
 * Finds an option by its id, the end of its id, or its label. Without a typed name, the fallback is used if the request
 * offers it.
 */
function selectedOption(
  options: PendingRequest['options'],
  kind: 'approve' | 'deny',
  typed: string | undefined,
  fallback: string,
): { readonly selectedOptionId?: string } {
  const wanted = typed ?? fallback
  const candidates = options.filter((each) => each.kind === kind)
  const chosen = candidates.find(
    ({ id, label }) =>
      id === wanted || id.endsWith(`.${wanted}`) || label.toLowerCase() === wanted.toLowerCase(),
  )
  if (chosen) return { selectedOptionId: chosen.id }
  if (typed === undefined) return {}
  const offered = candidates.map(({ id }) => sanitize(id.replace(/^atrium\./, ''))).join(', ')
  throw new CommandError(`'${wanted}' is not offered here; there is: ${offered || 'no choice'}.`, exits.usage)
}
