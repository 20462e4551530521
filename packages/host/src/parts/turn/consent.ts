import { callsOf, callIn } from '@atrium/protocol/chat/calls'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { pathOf } from '@atrium/protocol/file-uri'
import { isJsonObject } from '@atrium/protocol/json'
import { readinessOf } from '@atrium/protocol/root/readiness'
import type { SessionState } from '@atrium/protocol/session/state'
import { without } from '@atrium/protocol/update'
import type { Agent, AgentAction } from '../../ports/agent.ts'
import { TurnFailed } from '../../ports/agent.ts'
import { folderOf, isPermitted } from '../tools/approval.ts'
import { when } from './running-turn.ts'
import type { RunningTurn } from './running-turn.ts'

/**
 * Asks users for consent if the agent acts without asking. The question has the form of a tool call, and comes before
 * the agent begins. So the consent can be given for one turn, for the session or for the folder, and is stored like
 * any other permission. Returns undefined if no question is needed.
 */
export function requireConsent(
  turn: RunningTurn,
  publish: (output: AgentAction) => void,
): Promise<void> | undefined {
  const { agent } = turn
  showAsking(turn)
  if (!actsWithoutAsking(agent) || isAgreedInTurn(turn)) return undefined
  // A question from before a restart of the host must still be closed, even if its answer has stored a permission.
  return !openQuestion(turn) && isPermitted(turn, consentTool(agent)) ? undefined : askConsent(turn, publish)
}

/**
 * Whether a call of a turn is the question for consent. The host makes this call, and not the agent. Its id says so, because an
 * agent program chooses the names of its calls, and never their ids.
 */
export function isConsent({ toolCallId }: ToolCallState): boolean {
  return toolCallId.startsWith(idPrefix)
}

/** Records in the `_meta` of a session whether the session's agent acts without asking. */
export function withAsking(meta: SessionState['_meta'], agent: Agent): SessionState['_meta'] {
  const own = isJsonObject(meta?.[metaKey]) ? meta[metaKey] : {}
  const isShown = own['actsWithoutAsking'] === true
  if (isShown === actsWithoutAsking(agent)) return meta
  const next = isShown ? without(own, 'actsWithoutAsking') : { ...own, actsWithoutAsking: true }
  return { ...meta, [metaKey]: next }
}

/**
 * Shows in the state of a session whether its agent acts without asking. This may have changed, if the host was
 * started with another config.
 */
function showAsking({ core, session, agent }: RunningTurn): void {
  const { _meta } = session.head
  const next = withAsking(_meta, agent)
  if (next && next !== _meta) core.log.append(session, { type: 'session/metaChanged', _meta: next })
}

async function askConsent(turn: RunningTurn, publish: (output: AgentAction) => void): Promise<void> {
  const { agent, chat } = turn
  const { displayName } = agent.info
  const asked = openQuestion(turn)
  const toolCallId = asked?.toolCallId ?? `${idPrefix}${turn.core.world.id()}`
  if (!asked) {
    const labels = { toolName: consentTool(agent), displayName: `${displayName} acts without asking` }
    publish({ type: 'chat/toolCallStart', toolCallId, ...labels })
    publish({ type: 'chat/toolCallReady', toolCallId, invocationMessage: questionFor(turn) })
  }
  const state = await when(turn, chat, (each) => decided.has(callIn(each, toolCallId)?.status ?? ''))
  const status = callIn(state, toolCallId)?.status
  if (status !== 'running') throw new TurnFailed('permission', `${displayName} was not started.`, true)
  const pastTenseMessage = `${displayName} may act without asking`
  publish({ type: 'chat/toolCallComplete', toolCallId, result: { success: true, pastTenseMessage } })
  // The agent reads the committed state. If the call were still running there, the agent could take it for a call of
  // its own.
  await when(turn, chat, (each) => callIn(each, toolCallId)?.status === 'completed')
}

/** Whether users have agreed in this turn, before it was interrupted. */
function isAgreedInTurn({ chat }: RunningTurn): boolean {
  const calls = callsOf(chat.head.activeTurn?.responseParts)
  return calls.some((call) => isConsent(call) && call.status === 'completed')
}

/** Finds the question for consent that still waits for an answer, for example since before a restart of the host. */
function openQuestion({ chat }: RunningTurn): ToolCallState | undefined {
  const calls = callsOf(chat.head.activeTurn?.responseParts)
  return calls.find((call) => isConsent(call) && !ended.has(call.status))
}

function questionFor({ agent, session, chat }: RunningTurn): string {
  const folder = pathOf(folderOf(session, chat) ?? '')
  const where = folder.ok ? ` in ${folder.path}` : ''
  return `${agent.info.displayName} cannot be made to ask. Let it change files and run commands${where} without asking?`
}

function actsWithoutAsking({ info }: Agent): boolean {
  return readinessOf(info)?.actsWithoutAsking === true
}

/** The name under which the consent is stored. No tool of an agent can get it, because the host makes the call. */
function consentTool({ info }: Agent): string {
  return `${toolPrefix}${info.provider}`
}

const decided: ReadonlySet<string> = new Set(['running', 'completed', 'cancelled'])
const ended: ReadonlySet<string> = new Set(['completed', 'cancelled'])
const idPrefix = 'consent-'
const toolPrefix = 'agent:'
const metaKey = 'x-atrium'
