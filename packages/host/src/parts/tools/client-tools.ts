import type { ChatAction, ToolCallAction } from '@atrium/protocol/chat/actions'
import { callIn } from '@atrium/protocol/chat/calls'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import type { ChatContext } from './approval.ts'
import { clientTool, isServerCall } from './offered-tools.ts'

type CallRef = Pick<ToolCallAction, 'turnId' | 'toolCallId'>
type Start = Extract<ChatAction, { readonly type: 'chat/toolCallStart' }>

/** Fails the running calls of a session that use tools of this client. A client that has left runs no tools. */
export function failCallsOf(core: Core, session: Channel<'session'>, clientId: string): void {
  for (const request of session.head.inputNeeded ?? []) {
    // A chat with an active turn is always in memory.
    const chat = core.log.channel(request.chat, 'chat')
    if (!chat || request.kind !== 'toolClientExecution' || request.clientId !== clientId) continue
    const { turnId, toolCall } = request
    failCall(core, chat, { turnId, toolCallId: toolCall.toolCallId })
  }
}

/**
 * Checks the client that provides the tool of a call, when the call has just begun to run. If the client is not active in the
 * session, the call fails. A client that is active and not connected may still come back within its grace period.
 */
export function checkClientPresent({ core, session, chat }: ChatContext, action: CallRef): void {
  const call = callIn(chat.head, action.toolCallId)
  if (call?.status !== 'running' || call.contributor?.kind !== 'client') return
  const { clientId } = call.contributor
  // A connected client that is not active in this session does not run the tool, and the session would not notice its
  // departure.
  if (!session.head.activeClients.some((client) => client.clientId === clientId)) failCall(core, chat, action)
}

/**
 * Checks the client that an agent names when a call starts. If the client is not active in the session or does not have the
 * tool, the call fails at once: no client would answer, and an agent must not make a client run what it does not offer.
 */
export function checkClientOffers({ core, session, chat }: ChatContext, action: Start): void {
  const { turnId, toolCallId, contributor, displayName } = action
  if (contributor?.kind !== 'client' || clientTool(session.head, action)) return
  // Only a running call can fail, so the call is made ready first.
  const ready = {
    type: 'chat/toolCallReady',
    invocationMessage: displayName,
    confirmed: 'not-needed',
  } as const
  core.log.append(chat, { ...ready, turnId, toolCallId })
  // If the client is not active in the session, a follow-up of the last append has already failed the call.
  if (callIn(chat.head, toolCallId)?.status === 'running')
    failCall(core, chat, action, 'The client does not provide this tool')
}

/**
 * Returns what an action does (as the end of the sentence "an agent may not ...") if only the provider of the tool
 * may do it. The provider is a client or, for a tool of an MCP server, the host. Undefined if the agent may do it.
 */
export function providerOnly({ core, session, chat }: ChatContext, action: ChatAction): string | undefined {
  if (action.type !== 'chat/toolCallComplete' && action.type !== 'chat/toolCallContentChanged')
    return undefined
  const call = callIn(chat.head, action.toolCallId)
  if (call?.contributor?.kind === 'client') return 'report the progress or the result of a client tool'
  return call && isServerCall(core, session, call)
    ? 'report the progress or the result of the tool of an MCP server'
    : undefined
}

/**
 * Does `checkClientPresent` for all running calls of a chat, after a restart. A grace period may have ended before
 * the chat was loaded, and then the calls of that client in this chat have not failed yet.
 */
export function checkClientsPresent(
  core: Core,
  session: Channel<'session'> | undefined,
  chat: Channel<'chat'>,
): void {
  const { activeTurn } = chat.head
  for (const part of activeTurn?.responseParts ?? []) {
    if (!session || !activeTurn || part.kind !== 'toolCall') continue
    const { toolCallId } = part.toolCall
    checkClientPresent({ core, session, chat }, { turnId: activeTurn.id, toolCallId })
  }
}

function failCall(
  core: Core,
  chat: Channel<'chat'>,
  { turnId, toolCallId }: CallRef,
  message = 'The client that provides this tool has left',
): void {
  const result = { success: false, pastTenseMessage: message, error: { message } }
  core.log.append(chat, { type: 'chat/toolCallComplete', turnId, toolCallId, result })
}
