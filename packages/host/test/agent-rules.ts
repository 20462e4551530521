import { isDeepStrictEqual } from 'node:util'
import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ChatState, ResponsePart } from '@atrium/protocol/chat/state'
import { checkAction } from '@atrium/protocol/kind'

const aboutSession = ['session/titleChanged', 'session/metaChanged', 'session/configChanged']
const saidByHost = [
  'chat/turnStarted',
  'chat/turnComplete',
  'chat/turnCancelled',
  'chat/error',
  'chat/turnResume',
  'chat/truncated',
  'chat/turnsLoaded',
]

/** Why an agent may not say this now; nothing when it may. New ids are remembered. */
export function objection(action: Action, state: ChatState, ids: Set<string>): string | undefined {
  const kind = action.type.startsWith('session/') ? kinds.session : kinds.chat
  const known = kind === kinds.session ? aboutSession.includes(action.type) : kind.actions.has(action.type)
  if (!known || saidByHost.includes(action.type)) return 'no agent says this'
  const checked = checkAction(kind, action)
  if (!checked.ok) return checked.problem
  // Streamed text is looked at a hundred thousand times, and has no room for what is no JSON.
  const streamed = kind.classes.get(action.type) === 'relaxed'
  if (!streamed && !isDeepStrictEqual(JSON.parse(JSON.stringify(action)), action))
    return 'it is not its own JSON'
  return disorder(action as ChatAction, state.activeTurn?.responseParts ?? [], ids)
}

function disorder(action: ChatAction, parts: readonly ResponsePart[], ids: Set<string>): string | undefined {
  switch (action.type) {
    case 'chat/responsePart':
      if (action.part.kind === 'error') return 'a failure is thrown, not said'
      return taken(idOf(action.part), ids)
    case 'chat/toolCallStart':
      return taken(action.toolCallId, ids)
    case 'chat/delta':
    case 'chat/reasoning': {
      const part = parts.find((each) => idOf(each) === action.partId)
      if (!part) return 'the part was not made'
      const kind = action.type === 'chat/delta' ? 'markdown' : 'reasoning'
      return part.kind === kind ? undefined : `the part is no ${kind}`
    }
    default:
      if (!('toolCallId' in action)) return undefined
      return parts.some((part) => idOf(part) === action.toolCallId) ? undefined : 'the call was not started'
  }
}

function taken(id: string | undefined, ids: Set<string>): string | undefined {
  if (id === undefined) return undefined
  if (ids.has(id)) return `the id ${id} was used before`
  ids.add(id)
  return undefined
}

function idOf(part: ResponsePart): string | undefined {
  if (part.kind === 'toolCall') return part.toolCall.toolCallId
  return 'id' in part ? part.id : undefined
}
