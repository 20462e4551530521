import type { Chat, AgentAction } from '@atrium/host/ports/agent'
import type { ActiveTurn } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import { callIn, callsOf } from '@atrium/protocol/chat/calls'

const toolName = 'login'

/** A place that there is not: whatever is given for it is shown to nobody. */
export const door: ProtectedResourceMetadata = {
  resource: 'https://guide.atrium.example',
  resource_name: 'Atrium Guide',
  authorization_servers: ['https://login.guide.atrium.example'],
  scopes_supported: ['enter'],
}

/** A tool call that waits until somebody has signed in, over the end of its host, too. */
export async function* login(chat: Chat, turn: ActiveTurn, newId: () => string): AsyncIterable<AgentAction> {
  const waiting = openCall(turn)
  const toolCallId = waiting?.toolCallId ?? newId()
  if (!waiting) yield* ask(toolCallId)
  const state = await chat.when((each) => isOver(callIn(each, toolCallId)))
  // Whoever does not want to sign in ends the call instead.
  if (callIn(state, toolCallId)?.status !== 'running') return
  const success = chat.token(door.resource) !== undefined
  const pastTenseMessage = success ? 'Signed in to Atrium Guide' : 'Signed in, and out again'
  yield { type: 'chat/toolCallComplete', toolCallId, result: { success, pastTenseMessage } }
}

function* ask(toolCallId: string): Iterable<AgentAction> {
  const contributor = { kind: 'mcp', customizationId: 'guide' } as const
  yield { type: 'chat/toolCallStart', toolCallId, toolName, displayName: 'Sign in', contributor }
  const invocationMessage = 'Signing in to Atrium Guide'
  yield { type: 'chat/toolCallReady', toolCallId, invocationMessage, confirmed: 'not-needed' }
  const auth = { reason: 'required', resource: door, description: 'Any token will do.' }
  yield { type: 'chat/toolCallAuthRequired', toolCallId, auth, _meta: asked }
}

/** A call that runs has not asked yet, or was answered: this tells one from the other. */
const asked = { 'x-atrium': { asked: true } }

function isOver(call: ToolCallState | undefined): boolean {
  return call?._meta !== undefined && call.status !== 'auth-required'
}

function openCall({ responseParts }: ActiveTurn): ToolCallState | undefined {
  return callsOf(responseParts).find(
    (call) => call.toolName === toolName && ['running', 'auth-required'].includes(call.status),
  )
}
