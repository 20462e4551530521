import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { toolCallActions, turnActions } from '@atrium/protocol/chat/actions'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { checkAction } from '@atrium/protocol/kind'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionState } from '@atrium/protocol/session/state'
import { permissionsKey, withPermissions } from '../access/permissions.ts'
import { TurnFailed, agentSessionActions, hostOnlyActions } from '../ports/agent.ts'

/** A checked action of an agent: for its chat, in the turn that it does, or one of the few that it may append to its session. */
export type AgentOutput =
  | { readonly of: 'chat'; readonly action: ChatAction }
  | { readonly of: 'session'; readonly action: SessionAction }

/** Checks an action of an agent. Throws where the agent may not produce it. Agents are not trusted: `output` may be any value. */
export function parseAgentAction(output: unknown, turnId: string): AgentOutput {
  if (!isAction(output)) throw new TurnFailed('agent', 'the agent produced a value that is not an action')
  const { type } = output
  const of = type.startsWith('session/') ? 'session' : 'chat'
  const allowed =
    of === 'session' ? allowedOnSession.has(type) : kinds.chat.actions.has(type) && !hostOnly.has(type)
  if (!allowed)
    throw new TurnFailed('agent', `an agent may not dispatch ${JSON.stringify(type.slice(0, 100))}`)
  const action = { ...copied(output), ...(inTurn.has(type) && { turnId }) }
  const checked = checkAction(kinds[of], action)
  if (!checked.ok) throw new TurnFailed('agent', `the agent produced an invalid ${type}: ${checked.problem}`)
  // The schema of this type has checked it; the table of schemas does not carry their types.
  const parsed = { of, action: checked.value } as AgentOutput
  const forged = forgery(parsed.action)
  if (forged !== undefined) throw new TurnFailed('agent', `an agent may not ${forged}`)
  return parsed
}

/** The part of an action that only users may decide, in a type that agents also use for other purposes (S-35). */
function forgery(action: ChatAction | SessionAction): string | undefined {
  switch (action.type) {
    case 'session/configChanged':
      return Object.hasOwn(action.config, permissionsKey) ? 'change permissions' : undefined
    case 'chat/inputCompleted':
      return action.response === 'cancel' ? undefined : 'answer for a user'
    case 'chat/pendingMessageRemoved':
      return action.kind === 'steering' ? undefined : 'remove a queued message'
    // Such a part could say that it is answered or approved already.
    case 'chat/responsePart':
      return ownActions.has(action.part.kind) ? `add a ${action.part.kind} as a response part` : undefined
    default:
      return undefined
  }
}

/** Kinds of response parts that are made by actions of their own. */
const ownActions = new Set(['toolCall', 'inputRequest'])

/** The action as it is appended: it keeps the `_meta` of others, and the permissions of the session. */
export function storedForm(action: SessionAction, { _meta, config }: SessionState): SessionAction {
  if (action.type === 'session/metaChanged') return { ...action, _meta: { ..._meta, ...action._meta } }
  if (action.type !== 'session/configChanged' || !action.replace) return action
  return { ...action, config: withPermissions(action.config, config?.values) }
}

/** A copy in JSON: the agent may change its own object later, and a state must equal its JSON. */
function copied(output: Action): Action {
  // Most actions hold strings only, and need no deep copy.
  if (Object.values(output).every((value) => typeof value === 'string')) return output
  try {
    const copy: Action = JSON.parse(JSON.stringify(output))
    return copy
  } catch {
    throw new TurnFailed('agent', `the agent produced a ${output.type} that is not JSON`)
  }
}

function isAction(output: unknown): output is Action {
  return typeof output === 'object' && output !== null && 'type' in output && typeof output.type === 'string'
}

const allowedOnSession = new Set<string>(agentSessionActions)
const hostOnly = new Set<string>(hostOnlyActions)

/** Types that carry a `turnId`. */
const inTurn = new Set(Object.keys({ ...turnActions, ...toolCallActions }))
