import type { ToolCallAction } from '@atrium/protocol/chat/actions'
import { callIn } from '@atrium/protocol/chat/calls'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'

/** Which call of which turn. */
type Named = Pick<ToolCallAction, 'turnId' | 'toolCallId'>

/** Tools that clients lend to a session run there: whoever has gone runs none. */
export function failCallsOf(core: Core, session: Channel<'session'>, clientId: string): void {
  for (const request of session.head.inputNeeded ?? []) {
    // A chat with a turn that is not over is awake.
    const chat = core.log.channel(request.chat, 'chat')
    if (!chat || request.kind !== 'toolClientExecution' || request.clientId !== clientId) continue
    end(core, chat, request.turnId, request.toolCall.toolCallId)
  }
}

/** A client that left has not come back for its tools: it may still take part, but nobody waits for them any longer (F-39). */
export function failAbsentClient(core: Core, clientId: string): void {
  // Where nothing can be changed it is looked at again.
  if (core.readOnlyReason() !== undefined) return core.departures.departed(clientId)
  for (const uri of core.departures.sessionsOf(clientId)) {
    // One that waits for a tool is awake.
    const session = core.log.channel(uri, 'session')
    if (session) failCallsOf(core, session, clientId)
  }
}

/** A call that has just begun to run may have nobody who runs it: not any more, or not now. */
export function checkClientPresent(
  core: Core,
  session: Channel<'session'>,
  chat: Channel<'chat'>,
  action: Named,
): void {
  const call = callIn(chat.head, action.toolCallId)
  if (call?.status !== 'running' || call.contributor?.kind !== 'client') return
  const { clientId } = call.contributor
  const { activeClients } = session.head
  // Who is there and takes part no more runs nothing either; and when it goes, nobody would miss it.
  const takesPart = activeClients.some((client) => client.clientId === clientId)
  if (!takesPart) end(core, chat, action.turnId, action.toolCallId)
  else if (!core.links.has(clientId)) core.departures.departed(clientId)
}

/** After a start: whoever was missed before this chat was there again was missed in vain. */
export function checkClientsPresent(
  core: Core,
  session: Channel<'session'> | undefined,
  chat: Channel<'chat'>,
): void {
  const { activeTurn } = chat.head
  for (const part of activeTurn?.responseParts ?? [])
    if (session && activeTurn && part.kind === 'toolCall')
      checkClientPresent(core, session, chat, { turnId: activeTurn.id, toolCallId: part.toolCall.toolCallId })
}

function end(core: Core, chat: Channel<'chat'>, turnId: string, toolCallId: string): void {
  const message = 'The client that lent this tool has left'
  const result = { success: false, pastTenseMessage: message, error: { message } }
  core.log.append(chat, { type: 'chat/toolCallComplete', turnId, toolCallId, result })
}
