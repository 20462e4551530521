import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { ChatState } from '@atrium/protocol/chat/state'
import { checkAction } from '@atrium/protocol/kind'
import type { SessionState } from '@atrium/protocol/session/state'
import { actionOf } from '../src/kit/action.ts'
import { answerRejection, acceptedAnswer } from './wrong-answers.ts'
import { automationRejection } from './wrong-automations.ts'
import type { Channel, WrongLog } from './wrong-log.ts'

/** The reason to reject an action of a client; undefined if the action is accepted. */
export function rejectionOf(host: WrongLog, { kind, state }: Channel, action: Action): string | undefined {
  const { type } = action
  const checked = checkAction(kinds[kind], action)
  const unchecked =
    host.has('invalidAccepted') || (host.has('invalidAnswerAccepted') && type.startsWith('chat/input'))
  if (!checked.ok) return unchecked ? undefined : checked.problem
  if (type === 'session/defaultChatChanged' && host.has('unknownDefaultChatAccepted')) return undefined
  if (type === 'session/chatsReordered' && host.has('clientOrderAccepted')) return undefined
  if (host.has('unknownActionApplied') && !kinds[kind].actions.has(type))
    Object.assign(state as object, action)
  if (host.has('strictActions') && 'x-conformance' in action) return 'unknown field x-conformance'
  const dispatchable =
    kinds[kind].dispatchable.has(type) || (kind === 'chat' && host.has('hostActionsAccepted'))
  if (!dispatchable || (kinds[kind].actions.has(type) && !host.defines(type)))
    return `${type} may not be dispatched by a client`
  if (kind === 'automation') return automationRejection(host, action)
  if (kind === 'chat') return chatRejection(host, state as ChatState, action as ClientAction)
  if (type === 'session/defaultChatChanged')
    return defaultChatRejection(state as SessionState, action as ClientAction)
  if (type === 'session/configChanged')
    return configRejection(host, state as SessionState, action as ClientAction)
  return undefined
}

type ClientAction = Action & {
  readonly [key: string]: unknown
  readonly turnId?: string
  readonly message?: { readonly origin: { readonly kind: string }; readonly model?: { readonly id: string } }
  readonly draft?: ClientAction['message']
  readonly config?: object
  readonly defaultChat?: string
}

function defaultChatRejection({ chats }: SessionState, { defaultChat }: ClientAction): string | undefined {
  const known = defaultChat === undefined || chats.some(({ resource }) => resource === defaultChat)
  return known ? undefined : 'no such chat'
}

function configRejection(
  host: WrongLog,
  { config }: SessionState,
  clientAction: ClientAction,
): string | undefined {
  const fixed = Object.keys(clientAction.config ?? {}).find(
    (key) => !config?.schema.properties[key]?.sessionMutable,
  )
  return fixed === undefined || host.has('fixedConfigAccepted') ? undefined : `${fixed} is fixed`
}

function chatRejection(host: WrongLog, state: ChatState, clientAction: ClientAction): string | undefined {
  const { activeTurn, turns } = state
  const { type, turnId, message = clientAction.draft } = clientAction
  if (message && message.origin.kind !== 'user' && !host.has('anyMessageOriginAccepted'))
    return 'not from the user'
  switch (type) {
    case 'chat/turnStarted':
      if (message?.model && message.model.id !== 'mock-1') return 'no such model'
      if (activeTurn && !host.has('overlappingTurnAccepted')) return 'a turn is active'
      return turns.some(({ id }) => id === turnId) && !host.has('reusedTurnIdAccepted')
        ? 'the turn id is in use'
        : undefined
    case 'chat/turnCancelled':
      if (host.has('cancelAccepted') || (activeTurn && host.has('anyTurnCancelled'))) return undefined
      return activeTurn?.id === turnId ? undefined : 'the turn is not active'
    case 'chat/toolCallConfirmed':
      if (host.has('confirmAccepted') || (activeTurn && host.has('anyCallConfirmed'))) return undefined
      return answerRejection(host, state, clientAction)
    case 'chat/toolCallResultConfirmed':
    case 'chat/inputAnswerChanged':
    case 'chat/inputCompleted':
      return answerRejection(host, state, clientAction)
    case 'chat/truncated':
      if (turnId === undefined || host.has('unknownTurnTruncatesAll')) return undefined
      return turns.some(({ id }) => id === turnId) ? undefined : 'no such turn'
    case 'chat/turnResume':
      return host.has('anyTurnResumed') ? undefined : 'nothing to resume'
    case 'chat/draftChanged':
    case 'chat/pendingMessageSet':
    case 'chat/pendingMessageRemoved':
    case 'chat/queuedMessagesReordered':
    case 'chat/isReadChanged':
    case 'chat/isArchivedChanged':
      return undefined
    default:
      return host.has('hostActionsAccepted') ? undefined : 'not supported'
  }
}

/** The action to append for an accepted action of a client. Some faults change the action. */
export function acceptedAction(host: WrongLog, { kind, state }: Channel, action: Action): Action {
  const { turns } = state as ChatState
  if (kind === 'chat' && action.type !== 'chat/turnResume' && action.type !== 'chat/truncated')
    return acceptedAnswer(host, state as ChatState, action as ClientAction)
  if (action.type === 'chat/truncated' && host.has('unknownTurnTruncatesAll')) return { type: action.type }
  const last = action.type === 'chat/turnResume' ? turns.at(-1) : undefined
  if (!last) return action
  const { id: turnId, startedAt, message } = last
  return actionOf('chat/turnStarted', { turnId, startedAt, message })
}
