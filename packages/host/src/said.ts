import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { checkAction } from '@atrium/protocol/kind'
import { TurnFailed } from './ports/agent.ts'

/** What an agent says: an action of its chat, in the turn it was given, or one of the few of its session. */
export interface Said {
  readonly of: 'chat' | 'session'
  readonly action: Action
}

/** Throws where it is nothing that an agent may say. It may have come from anywhere. */
export function understood(said: unknown, turnId: string): Said {
  const { type } = (said ?? {}) as { readonly type?: unknown }
  if (typeof type !== 'string') throw new TurnFailed('agent', 'the agent said something that is no action')
  const of = type.startsWith('session/') ? 'session' : 'chat'
  const may = of === 'session' ? aboutSession.has(type) : kinds.chat.actions.has(type) && !ours.has(type)
  if (!may) throw new TurnFailed('agent', `the agent may not say ${JSON.stringify(type.slice(0, 100))}`)
  const action = { ...(said as Action), ...(of === 'chat' && { turnId }) }
  // Streamed text is only text; anything else may hold what JSON would not give back, and becomes part of the state.
  const streamed = kinds[of].classes.get(type) === 'relaxed'
  const checked = checkAction(kinds[of], streamed ? action : asJson(action))
  if (!checked.ok) throw new TurnFailed('agent', `the agent said a bad ${type}: ${checked.problem}`)
  return { of, action: checked.value }
}

function asJson(action: Action): Action {
  return JSON.parse(JSON.stringify(action)) as Action
}

const aboutSession = new Set(['session/titleChanged', 'session/metaChanged', 'session/configChanged'])

/** How a turn begins and ends is said by the host, and what people write by them. */
const ours = new Set([
  'chat/draftChanged',
  'chat/isReadChanged',
  'chat/isArchivedChanged',
  'chat/pendingMessageSet',
  'chat/queuedMessagesReordered',
  'chat/turnStarted',
  'chat/turnComplete',
  'chat/turnCancelled',
  'chat/error',
  'chat/turnResume',
  'chat/truncated',
  'chat/turnsLoaded',
])
