import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { toolCallActions, turnActions } from '@atrium/protocol/chat/actions'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { checkAction } from '@atrium/protocol/kind'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionState } from '@atrium/protocol/session/state'
import { without } from '@atrium/protocol/update'
import { permissionsKey, withPermissions } from '../access/tool-permissions.ts'
import { TurnFailed, agentSessionActions, hostOnlyActions } from '../../ports/agent.ts'

/**
 * A checked action of an agent. It is either a chat action, for the chat of the agent's turn, or one of the few session actions
 * that an agent may yield.
 */
export type AgentOutput =
  | { readonly of: 'chat'; readonly action: ChatAction }
  | { readonly of: 'session'; readonly action: SessionAction }

/** Checks an action of an agent. Throws if the agent may not produce it. Agents are not trusted: `output` may be any value. */
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
  // The schema of this action type has checked the value. The cast is needed because the table of schemas does not carry
  // their types.
  const parsed = { of, action: checked.value } as AgentOutput
  const forged = forgery(parsed.action)
  if (forged !== undefined) throw new TurnFailed('agent', `an agent may not ${forged}`)
  return parsed
}

/**
 * If an action does something that only users may do, returns what it does. Undefined for a permitted action. Agents may use
 * the same action types for other purposes (S-35).
 */
function forgery(action: ChatAction | SessionAction): string | undefined {
  switch (action.type) {
    case 'session/configChanged':
      return Object.hasOwn(action.config, permissionsKey) ? 'change permissions' : undefined
    case 'chat/inputCompleted':
      return action.response === 'cancel' ? undefined : 'answer for a user'
    case 'chat/pendingMessageRemoved':
      return action.kind === 'steering' ? undefined : 'remove a queued message'
    // A response part with a tool call or a request could claim that it is already approved or answered.
    case 'chat/responsePart':
      return ownActions.has(action.part.kind) ? `add a ${action.part.kind} as a response part` : undefined
    default:
      return undefined
  }
}

/** The key of a session's `_meta` that only the host changes. */
const ownKey = 'x-atrium'

/**
 * Kinds of response parts that an agent may not add by `chat/responsePart`, because there are special actions for
 * them.
 */
const ownActions = new Set(['toolCall', 'inputRequest'])

/**
 * Returns an agent's session action in the form in which it is appended. The `_meta` keys that others have set and
 * the permissions of the session stay.
 */
export function storedForm(action: SessionAction, { _meta, config }: SessionState): SessionAction {
  if (action.type === 'session/metaChanged')
    return { ...action, _meta: { ..._meta, ...without(action._meta ?? {}, ownKey) } }
  if (action.type !== 'session/configChanged' || !action.replace) return action
  return { ...action, config: withPermissions(action.config, config?.values) }
}

/** Copies an action through JSON, because the agent may change its object later, and a state must equal its JSON. */
function copied(output: Action): Action {
  // Most actions have only texts. The caller's own copy is then enough, because it has no nested objects.
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
