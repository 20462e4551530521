import type { Chat, AgentAction } from '@atrium/host/ports/agent'
import type { ActiveTurn } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import { callIn, callsOf } from '@atrium/protocol/chat/calls'

const toolName = 'login'

/** The resource that users sign in to. It does not exist, so its token is never sent anywhere. */
export const guideResource: ProtectedResourceMetadata = {
  resource: 'https://guide.atrium.example',
  resource_name: 'Atrium Guide',
  scopes_supported: ['enter'],
}

/** Runs a tool call that waits until the user has signed in. A host that restarts meanwhile continues the call. */
export async function* login(chat: Chat, turn: ActiveTurn, newId: () => string): AsyncIterable<AgentAction> {
  const waiting = openCall(turn)
  const toolCallId = waiting?.toolCallId ?? newId()
  if (!waiting) yield* ask(toolCallId)
  const state = await chat.when((each) => isOver(callIn(each, toolCallId)))
  // A user who does not want to sign in cancels the call.
  if (callIn(state, toolCallId)?.status !== 'running') return
  const success = chat.token(guideResource.resource) !== undefined
  const pastTenseMessage = success ? 'Signed in to Atrium Guide' : 'Signed in, and out again'
  yield { type: 'chat/toolCallComplete', toolCallId, result: { success, pastTenseMessage } }
}

function* ask(toolCallId: string): Iterable<AgentAction> {
  const contributor = { kind: 'mcp', customizationId: 'guide' } as const
  yield { type: 'chat/toolCallStart', toolCallId, toolName, displayName: 'Sign in', contributor }
  const invocationMessage = 'Signing in to Atrium Guide'
  yield { type: 'chat/toolCallReady', toolCallId, invocationMessage, confirmed: 'not-needed' }
  const auth = { reason: 'required', resource: guideResource, description: 'Any token will do.' }
  yield { type: 'chat/toolCallAuthRequired', toolCallId, auth, _meta: askedMeta }
}

/**
 * Marks a call that has asked the user to sign in. The status `running` alone is ambiguous: the call has not asked yet, or
 * the user has signed in.
 */
const askedMeta = { 'x-atrium': { asked: true } }

function isOver(call: ToolCallState | undefined): boolean {
  const data = call?._meta?.['x-atrium']
  const asked = typeof data === 'object' && data !== null && 'asked' in data
  return asked && call?.status !== 'auth-required'
}

function openCall({ responseParts }: ActiveTurn): ToolCallState | undefined {
  return callsOf(responseParts).find(
    (call) => call.toolName === toolName && ['running', 'auth-required'].includes(call.status),
  )
}
