import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { toolCallActions, turnActions } from '@atrium/protocol/chat/actions'
import { checkAction } from '@atrium/protocol/kind'
import { permissionsKey } from './permissions.ts'
import { TurnFailed, aboutSession, unsayable } from './ports/agent.ts'

/** What an agent says: an action of its chat, in the turn it was given, or one of the few of its session. */
export interface Understood {
  readonly of: 'chat' | 'session'
  readonly action: Action
}

/** Throws where it is nothing that an agent may say. It may have come from anywhere. */
export function understood(said: unknown, turnId: string): Understood {
  const { type } = (said ?? {}) as { readonly type?: unknown }
  if (typeof type !== 'string') throw new TurnFailed('agent', 'the agent said something that is no action')
  const of = type.startsWith('session/') ? 'session' : 'chat'
  const may = of === 'session' ? mayOfSession.has(type) : kinds.chat.actions.has(type) && !mayNot.has(type)
  if (!may) throw new TurnFailed('agent', `the agent may not say ${JSON.stringify(type.slice(0, 100))}`)
  const action = { ...lasting(said as Action), ...(inTurn.has(type) && { turnId }) }
  const checked = checkAction(kinds[of], action)
  if (!checked.ok) throw new TurnFailed('agent', `the agent said a bad ${type}: ${checked.problem}`)
  const problem = presumption(checked.value)
  if (problem !== undefined) throw new TurnFailed('agent', problem)
  return { of, action: checked.value }
}

/** What is of a kind that agents may say, and would decide in the place of people what a tool may do. */
function presumption(action: Action): string | undefined {
  const { part, config } = action as { readonly part?: { readonly kind: string }; readonly config?: object }
  if (part?.kind === 'toolCall') return 'a tool call is started before anything else is said of it'
  return config && Object.hasOwn(config, permissionsKey)
    ? 'what is allowed is not for the agent to say'
    : undefined
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

const mayOfSession = new Set<string>(aboutSession)
const mayNot = new Set<string>(unsayable)

/** These belong to a turn; the others are about the chat. */
const inTurn = new Set(Object.keys({ ...turnActions, ...toolCallActions }))
