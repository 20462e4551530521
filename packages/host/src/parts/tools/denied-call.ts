import type { Action } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { callIn } from '@atrium/protocol/chat/calls'
import { textOf } from '@atrium/protocol/common/content'
import type { Channel } from '../../kernel/log/channel.ts'
import { equal } from '../../kernel/log/equal.ts'
import { withoutCallMeta } from './call-meta.ts'

type Confirmation = Extract<ChatAction, { readonly type: 'chat/toolCallConfirmed' }>
type Denial = Extract<Confirmation, { readonly approved: false }>
type Complete = Extract<ChatAction, { readonly type: 'chat/toolCallComplete' }>

/**
 * Converts the denial of a running call, by the client that should run it, to a failed result. A client that does not know
 * the tool has no other answer, and without an answer the call would run for ever. Any other action stays as it is.
 */
export function convertDenial(channel: Channel, action: Action, clientId: string): Action {
  if (!channel.is('chat') || !isDenial(action) || channel.head.activeTurn?.id !== action.turnId) return action
  const call = callIn(channel.head, action.toolCallId)
  const isOwn = call?.contributor?.kind === 'client' && call.contributor.clientId === clientId
  return isOwn && call.status === 'running' ? failure(action) : action
}

/** Whether an accepted action is the converted form of a dispatched denial. */
export function isDenialOf(accepted: Action, dispatched: Action): boolean {
  return isDenial(dispatched) && equal(withoutCallMeta(accepted), withoutCallMeta(failure(dispatched)))
}

/**
 * Whether an action can be the denial of a running call: it chooses no option and denies no result, because a running call has
 * neither.
 */
function isDenial(action: Action): action is Denial {
  if (action.type !== 'chat/toolCallConfirmed') return false
  // The schema has checked the action, or the host has stored it.
  const { approved, ...rest } = action as Confirmation
  return (
    !approved && rest.selectedOptionId === undefined && !('reason' in rest && rest.reason === 'result-denied')
  )
}

function failure({ turnId, toolCallId, reasonMessage, _meta }: Denial): Complete {
  const pastTenseMessage = reasonMessage ?? 'The client that provides this tool did not run it'
  const result = { success: false, pastTenseMessage, error: { message: textOf(pastTenseMessage) } }
  return { type: 'chat/toolCallComplete', turnId, toolCallId, result, ...(_meta && { _meta }) }
}
