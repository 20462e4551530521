import type { Uri } from '@atrium/protocol/channel'
import type { ChatState, ResponsePart } from '@atrium/protocol/chat/state'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionInputRequest, SessionState } from '@atrium/protocol/session/state'
import { equal } from '../../kernel/log/equal.ts'

/** The actions that update a session's `inputNeeded` to the open requests of a chat, for clients not subscribed to the chat. */
export function inputNeededChanges(session: SessionState, chat: ChatState): readonly SessionAction[] {
  const listed = (session.inputNeeded ?? []).filter((request) => request.chat === chat.resource)
  const { activeTurn } = chat
  if (listed.length === 0 && !activeTurn) return none
  const open = activeTurn
    ? activeTurn.responseParts.flatMap((part) => requestsOf(chat.resource, activeTurn.id, part))
    : []
  const removed = listed.filter(({ id }) => !open.some((request) => request.id === id))
  const added = open.filter((request) => !listed.some((one) => equal(one, request)))
  return [
    ...removed.map(({ id }) => ({ type: 'session/inputNeededRemoved', id }) as const),
    ...added.map((request) => ({ type: 'session/inputNeededSet', request }) as const),
  ]
}

const none: readonly SessionAction[] = []

function requestsOf(chat: Uri, turnId: string, part: ResponsePart): readonly SessionInputRequest[] {
  if (part.kind === 'inputRequest')
    return part.response === undefined
      ? [{ kind: 'chatInput', id: `${chat}#request-${part.request.id}`, chat, request: part.request }]
      : []
  if (part.kind !== 'toolCall') return []
  const { toolCall } = part
  const base = { id: `${chat}#call-${toolCall.toolCallId}`, chat, turnId }
  if (toolCall.status === 'pending-confirmation' || toolCall.status === 'pending-result-confirmation')
    return [{ ...base, kind: 'toolConfirmation', toolCall }]
  if (toolCall.status === 'auth-required') return [{ ...base, kind: 'toolAuthentication', toolCall }]
  if (toolCall.status === 'running' && toolCall.contributor?.kind === 'client')
    return [{ ...base, kind: 'toolClientExecution', clientId: toolCall.contributor.clientId, toolCall }]
  return []
}
