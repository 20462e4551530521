import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { ChatState } from '@atrium/protocol/chat/state'
import { checkAction } from '@atrium/protocol/kind'
import type { SessionState } from '@atrium/protocol/session/state'
import { answerRefusal, grantedAnswer } from './wrong-answers.ts'
import type { Channel, WrongLog } from './wrong-log.ts'

/** Why a client may not have what it wishes. */
export function refusal(host: WrongLog, { kind, state }: Channel, action: Action): string | undefined {
  const { type } = action
  const checked = checkAction(kinds[kind], action)
  const unchecked = host.has('invalidTaken') || (host.has('anyAnswer') && type.startsWith('chat/input'))
  if (!checked.ok) return unchecked ? undefined : checked.problem
  if (type === 'session/defaultChatChanged' && host.has('defaultChatTaken')) return undefined
  if (type === 'session/chatsReordered' && host.has('orderTaken')) return undefined
  if (host.has('unknownActionApplied') && !kinds[kind].actions.has(type))
    Object.assign(state as object, action)
  if (host.has('strictActions') && 'x-conformance' in action) return 'what is x-conformance?'
  const spoken = kinds[kind].dispatchable.has(type) || (kind === 'chat' && host.has('hostActionsTaken'))
  if (!spoken) return `${type} is not for clients`
  if (kind === 'chat') return inChat(host, state as ChatState, action as Wish)
  if (type === 'session/configChanged') return settled(host, state as SessionState, action as Wish)
  return undefined
}

type Wish = Action & {
  readonly [key: string]: unknown
  readonly turnId?: string
  readonly message?: { readonly origin: { readonly kind: string }; readonly model?: { readonly id: string } }
  readonly draft?: Wish['message']
  readonly config?: object
}

function settled(host: WrongLog, { config }: SessionState, wish: Wish): string | undefined {
  const fixed = Object.keys(wish.config ?? {}).find((key) => !config?.schema.properties[key]?.sessionMutable)
  return fixed === undefined || host.has('configTaken') ? undefined : `${fixed} is fixed`
}

function inChat(host: WrongLog, state: ChatState, wish: Wish): string | undefined {
  const { activeTurn, turns } = state
  const { type, turnId, message = wish.draft } = wish
  if (message && message.origin.kind !== 'user' && !host.has('anyMessageOrigin')) return 'not from the user'
  switch (type) {
    case 'chat/turnStarted':
      if (message?.model && message.model.id !== 'mock-1') return 'no such model'
      if (activeTurn && !host.has('overlapTaken')) return 'a turn runs'
      return turns.some(({ id }) => id === turnId) && !host.has('turnIdReused') ? 'that turn was' : undefined
    case 'chat/turnCancelled':
      if (host.has('cancelTaken') || (activeTurn && host.has('anyTurnCancelled'))) return undefined
      return activeTurn?.id === turnId ? undefined : 'that turn does not run'
    case 'chat/toolCallConfirmed':
      if (host.has('confirmTaken') || (activeTurn && host.has('anyCallConfirmed'))) return undefined
      return answerRefusal(host, state, wish)
    case 'chat/toolCallResultConfirmed':
    case 'chat/inputAnswerChanged':
    case 'chat/inputCompleted':
      return answerRefusal(host, state, wish)
    case 'chat/truncated':
      if (turnId === undefined || host.has('truncatedAnyway')) return undefined
      return turns.some(({ id }) => id === turnId) ? undefined : 'no such turn'
    case 'chat/turnResume':
      return host.has('resumedAnyway') ? undefined : 'nothing to resume'
    case 'chat/draftChanged':
    case 'chat/pendingMessageSet':
    case 'chat/pendingMessageRemoved':
    case 'chat/queuedMessagesReordered':
    case 'chat/isReadChanged':
    case 'chat/isArchivedChanged':
      return undefined
    default:
      return host.has('hostActionsTaken') ? undefined : 'nothing of the kind here'
  }
}

/** What an accepted wish becomes. */
export function granted(host: WrongLog, { kind, state }: Channel, action: Action): Action {
  const { turns } = state as ChatState
  if (kind === 'chat' && action.type !== 'chat/turnResume' && action.type !== 'chat/truncated')
    return grantedAnswer(host, state as ChatState, action as Wish)
  if (action.type === 'chat/truncated' && host.has('truncatedAnyway')) return { type: action.type }
  const last = action.type === 'chat/turnResume' ? turns.at(-1) : undefined
  if (!last) return action
  const { id: turnId, startedAt, message } = last
  return { type: 'chat/turnStarted', turnId, startedAt, message } as Action
}
