import type { Client } from '@atrium/client/client'
import { decisionOf } from '@atrium/host/access/decision'
import type { ChatState, ResponsePart } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { SessionState } from '@atrium/protocol/session/state'
import { sanitize } from '../terminal/output.ts'
import { deciderName, decisionWords } from './decision.ts'
import { requestIdOf } from './pending-requests.ts'
import type { Request } from './pending-requests.ts'

/**
 * Returns the answer that a request got, in a word or two. Returns undefined if the newest turn of the chat does not show
 * the answer.
 */
export function resolutionOf(chat: ChatState | undefined, request: Request): string | undefined {
  if (!chat || chat.resource !== request.chat) return undefined
  const parts = chat.activeTurn?.responseParts ?? chat.turns.at(-1)?.responseParts ?? []
  const part = partOf(parts, requestIdOf(request))
  return part?.kind === 'inputRequest' ? part.response : part && callResolution(part.toolCall)
}

function callResolution(call: ToolCallState): string | undefined {
  const chosen = 'selectedOption' in call ? call.selectedOption : undefined
  const by = decisionOf(call, 'resultDecidedBy') ?? decisionOf(call, 'decidedBy')
  if (chosen) return [sanitize(chosen.label), ...(by ? [`by ${deciderName(by)}`] : [])].join(', ')
  if (call.status === 'cancelled') return by ? `${call.reason}, by ${deciderName(by)}` : call.reason
  if (call.status !== 'running' && call.status !== 'completed') return undefined
  return decisionWords(by) ?? 'allowed'
}

/**
 * Returns the answer that a request got, as a sentence without its full stop. Returns undefined if no chat of the session
 * has the request.
 */
export async function resolutionIn(
  client: Client,
  session: SessionState,
  id: string,
): Promise<string | undefined> {
  for (const { resource } of session.chats) {
    const chat = client.subscribe('chat', resource, { view: { turns: 5 } })
    const { turns, activeTurn } = await chat.ready()
    chat.release()
    const all = activeTurn ? [...turns, activeTurn] : turns
    const part = partOf(
      all.flatMap(({ responseParts }) => responseParts),
      id,
    )
    if (part) return sentenceFor(part)
  }
  return undefined
}

/** The sentences for the responses to a form. */
const formWords: { readonly [response: string]: string } = {
  accept: 'it was answered',
  decline: 'it was declined',
}

function sentenceFor(part: RequestPart): string {
  if (part.kind === 'inputRequest') return formWords[part.response ?? ''] ?? 'it was cancelled'
  const { toolCall: call } = part
  if (call.status === 'cancelled' && call.reason === 'skipped') return 'its turn is over'
  if (call.status !== 'cancelled' && call.status !== 'running' && call.status !== 'completed')
    return 'it is not asking yet'
  const result = decisionWords(decisionOf(call, 'resultDecidedBy'))
  if (result !== undefined) return `its result was ${result}`
  const fallback = call.status === 'cancelled' ? 'denied' : 'approved'
  return `it was ${decisionWords(decisionOf(call, 'decidedBy')) ?? fallback}`
}

type RequestPart = Extract<ResponsePart, { readonly kind: 'toolCall' | 'inputRequest' }>

/** Finds the tool call, or the form, with this id. */
function partOf(parts: readonly ResponsePart[], id: string): RequestPart | undefined {
  for (const part of parts) {
    if (part.kind === 'toolCall' && part.toolCall.toolCallId === id) return part
    if (part.kind === 'inputRequest' && part.request.id === id) return part
  }
  return undefined
}
