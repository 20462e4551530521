import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { toolCallActions, turnActions } from '@atrium/protocol/chat/actions'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { checkAction } from '@atrium/protocol/kind'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionState } from '@atrium/protocol/session/state'
import { permissionsKey, withPermissions } from '../access/permissions.ts'
import { TurnFailed, agentSessionActions, hostOnlyActions } from '../ports/agent.ts'

/** What an agent says: an action of its chat, in the turn it was given, or one of the few of its session. */
export interface AgentOutput {
  readonly of: 'chat' | 'session'
  readonly action: Action
}

/** Throws where it is nothing that an agent may say. It may have come from anywhere. */
export function parseAgentAction(said: unknown, turnId: string): AgentOutput {
  const { type } = (said ?? {}) as { readonly type?: unknown }
  if (typeof type !== 'string') throw new TurnFailed('agent', 'the agent said something that is no action')
  const of = type.startsWith('session/') ? 'session' : 'chat'
  const may = of === 'session' ? mayOfSession.has(type) : kinds.chat.actions.has(type) && !mayNot.has(type)
  if (!may) throw new TurnFailed('agent', `the agent may not say ${JSON.stringify(type.slice(0, 100))}`)
  const action = { ...lasting(said as Action), ...(inTurn.has(type) && { turnId }) }
  const checked = checkAction(kinds[of], action)
  if (!checked.ok) throw new TurnFailed('agent', `the agent said a bad ${type}: ${checked.problem}`)
  const forged = forgery(checked.value as ChatAction | SessionAction)
  if (forged !== undefined) throw new TurnFailed('agent', `the agent may not say ${forged}`)
  return { of, action: checked.value }
}

/** What nobody but a person may say, in an action that agents use for other things, too (S-35). */
function forgery(action: ChatAction | SessionAction): string | undefined {
  switch (action.type) {
    case 'session/configChanged':
      return Object.hasOwn(action.config, permissionsKey) ? 'what is allowed' : undefined
    case 'chat/inputCompleted':
      return action.response === 'cancel' ? undefined : 'what people answer'
    case 'chat/pendingMessageRemoved':
      return action.kind === 'steering' ? undefined : 'that a message waits no longer'
    // They would come with whatever stands in them: answered, or approved.
    case 'chat/responsePart':
      return apart.has(action.part.kind) ? `a ${action.part.kind} as a part` : undefined
    default:
      return undefined
  }
}

const apart = new Set(['toolCall', 'inputRequest'])

/** The same, and what others keep beside a session stays, and what people allowed there. */
export function storedForm(action: SessionAction, { _meta, config }: SessionState): SessionAction {
  if (action.type === 'session/metaChanged') return { ...action, _meta: { ..._meta, ...action._meta } }
  if (action.type !== 'session/configChanged' || !action.replace) return action
  return { ...action, config: withPermissions(action.config, config?.values) }
}

/** As it stays, whatever the agent does with its own object later. A state is JSON. */
function lasting(said: Action): Action {
  // So are most words.
  if (Object.values(said).every((value) => typeof value === 'string')) return said
  try {
    return JSON.parse(JSON.stringify(said)) as Action
  } catch {
    throw new TurnFailed('agent', `the agent said a ${said.type} that is no JSON`)
  }
}

const mayOfSession = new Set<string>(agentSessionActions)
const mayNot = new Set<string>(hostOnlyActions)

/** These belong to a turn; the others are about the chat. */
const inTurn = new Set(Object.keys({ ...turnActions, ...toolCallActions }))
