import type { ChatAction } from '@atrium/protocol/chat/actions'
import { Problem, exits } from '../terminal/exit.ts'
import { harmless, onOneLine } from '../terminal/output.ts'
import type { Waiting } from './pending-requests.ts'

/** How somebody wants to answer. */
export interface Wanted {
  readonly option?: string
  readonly edit?: string
  readonly reason?: string
}

/** What a yes is called, for each thing that can wait. */
export function yesTo(
  { kind, id, turnId = '', options, what }: Waiting,
  { option, edit }: Wanted,
): ChatAction {
  if (kind === 'login')
    throw new Problem(`'${onOneLine(what)}' waits for a sign-in, which only a client with a browser can do.`)
  if (kind !== 'call' && (option ?? edit) !== undefined)
    throw new Problem('--option and --edit are for a tool that asks; this is none.', exits.usage)
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
    ...choiceOf(options, 'approve', option ?? 'once', option !== undefined),
  }
}

/** What a no is called. */
export function noTo(
  { kind, id, turnId = '', options, what }: Waiting,
  { option, reason }: Wanted,
): ChatAction {
  if (kind === 'login')
    throw new Problem(`'${onOneLine(what)}' waits for a sign-in; cancel its turn instead.`)
  if (kind === 'form') return { type: 'chat/inputCompleted', requestId: id, response: 'decline' }
  if (kind === 'result')
    return { type: 'chat/toolCallResultConfirmed', turnId, toolCallId: id, approved: false }
  const usual = reason === undefined ? 'deny' : 'deny-why'
  return {
    type: 'chat/toolCallConfirmed',
    turnId,
    toolCallId: id,
    approved: false,
    reason: 'denied',
    ...(reason !== undefined && { reasonMessage: reason }),
    ...choiceOf(options, 'deny', option ?? usual, option !== undefined),
  }
}

/** The choice that is called so, by the end of its id or by its label. One that nobody typed need not be there. */
function choiceOf(
  options: Waiting['options'],
  kind: 'approve' | 'deny',
  wanted: string,
  typed: boolean,
): { readonly selectedOptionId?: string } {
  const fit = options.filter((each) => each.kind === kind)
  const [chosen] = fit.filter(
    ({ id, label }) =>
      id === wanted || id.endsWith(`.${wanted}`) || label.toLowerCase() === wanted.toLowerCase(),
  )
  if (chosen) return { selectedOptionId: chosen.id }
  if (!typed) return {}
  const offered = fit.map(({ id }) => harmless(id.replace(/^atrium\./, ''))).join(', ')
  throw new Problem(`'${wanted}' is not offered here; there is: ${offered || 'no choice'}.`, exits.usage)
}
