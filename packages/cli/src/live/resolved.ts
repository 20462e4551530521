import type { ChatState, ResponsePart } from '@atrium/protocol/chat/state'
import type { Ask } from './requests.ts'
import { harmless } from '../terminal/output.ts'

/** What became of something that was asked, in words; nothing where the chat does not show it. */
export function becomeOf(chat: ChatState | undefined, ask: Ask): string | undefined {
  if (!chat || chat.resource !== ask.chat) return undefined
  const parts = chat.activeTurn?.responseParts ?? chat.turns.at(-1)?.responseParts ?? []
  for (const part of parts) {
    const how = inPart(part, ask)
    if (how !== undefined) return how
  }
  return undefined
}

function inPart(part: ResponsePart, ask: Ask): string | undefined {
  if (ask.kind === 'chatInput')
    return part.kind === 'inputRequest' && part.request.id === ask.request.id ? part.response : undefined
  if (part.kind !== 'toolCall' || part.toolCall.toolCallId !== ask.toolCall.toolCallId) return undefined
  const { toolCall } = part
  const chosen = 'selectedOption' in toolCall ? toolCall.selectedOption : undefined
  if (chosen) return harmless(chosen.label)
  if (toolCall.status === 'cancelled') return toolCall.reason
  return toolCall.status === 'running' || toolCall.status === 'completed' ? 'allowed' : undefined
}
