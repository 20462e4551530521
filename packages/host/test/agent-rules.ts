import { isDeepStrictEqual } from 'node:util'
import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ChatState, ResponsePart } from '@atrium/protocol/chat/state'
import { checkAction } from '@atrium/protocol/kind'

const sessionTypes = ['session/titleChanged', 'session/metaChanged', 'session/configChanged']
const hostTypes = [
  'chat/turnStarted',
  'chat/turnComplete',
  'chat/turnCancelled',
  'chat/error',
  'chat/turnResume',
  'chat/truncated',
  'chat/turnsLoaded',
]

/**
 * Returns the reason why an agent must not send an action now; undefined if it may. The ids that the action introduces are
 * added to `ids`.
 */
export function whyNotAllowed(action: Action, state: ChatState, ids: Set<string>): string | undefined {
  const kind = action.type.startsWith('session/') ? kinds.session : kinds.chat
  const known = kind === kinds.session ? sessionTypes.includes(action.type) : kind.actions.has(action.type)
  if (!known || hostTypes.includes(action.type)) return 'no agent may send this action'
  const checked = checkAction(kind, action)
  if (!checked.ok) return checked.problem
  // Streamed text is not converted to JSON and back, because it is frequent and its schema admits only strings.
  const streamed = kind.classes.get(action.type) === 'relaxed'
  if (!streamed && !isDeepStrictEqual(JSON.parse(JSON.stringify(action)), action))
    return 'the action changes when it is written as JSON'
  return orderProblem(action as ChatAction, state.activeTurn?.responseParts ?? [], ids)
}

function orderProblem(
  action: ChatAction,
  parts: readonly ResponsePart[],
  ids: Set<string>,
): string | undefined {
  switch (action.type) {
    case 'chat/responsePart':
      if (action.part.kind === 'error') return 'a failure must be thrown, not sent as a part'
      return idProblem(idOf(action.part), ids)
    case 'chat/toolCallStart':
      return idProblem(action.toolCallId, ids)
    case 'chat/delta':
    case 'chat/reasoning': {
      const part = parts.find((each) => idOf(each) === action.partId)
      if (!part) return 'the part was not started'
      const kind = action.type === 'chat/delta' ? 'markdown' : 'reasoning'
      return part.kind === kind ? undefined : `the part is no ${kind}`
    }
    default:
      if (!('toolCallId' in action)) return undefined
      return parts.some((part) => idOf(part) === action.toolCallId) ? undefined : 'the call was not started'
  }
}

function idProblem(id: string | undefined, ids: Set<string>): string | undefined {
  if (id === undefined) return undefined
  if (ids.has(id)) return `the id ${id} was used before`
  ids.add(id)
  return undefined
}

function idOf(part: ResponsePart): string | undefined {
  if (part.kind === 'toolCall') return part.toolCall.toolCallId
  return 'id' in part ? part.id : undefined
}
