import type { ActiveTurn, ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'

/** The party that an open part of a turn waits for: a user's answer, a client that runs a tool, or the agent. */
type Open = 'user' | 'client' | 'agent'

export function callsOf(turn: Pick<ActiveTurn, 'responseParts'> | undefined): readonly ToolCallState[] {
  return (turn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}

export function callIn({ activeTurn }: Partial<ChatState>, toolCallId: string): ToolCallState | undefined {
  return callsOf(activeTurn).find((call) => call.toolCallId === toolCallId)
}

/** Returns the client that is running a call; undefined for a call that no client runs now. */
export function clientRunning(call: ToolCallState | undefined): string | undefined {
  return call?.status === 'running' && call.contributor?.kind === 'client'
    ? call.contributor.clientId
    : undefined
}

export function waitsFor({ responseParts }: Pick<ActiveTurn, 'responseParts'>): readonly Open[] {
  return responseParts.flatMap((part): readonly Open[] => {
    if (part.kind === 'inputRequest') return part.response === undefined ? ['user'] : []
    if (part.kind !== 'toolCall' || over.has(part.toolCall.status)) return []
    if (part.toolCall.status.startsWith('pending')) return ['user']
    return [clientRunning(part.toolCall) === undefined ? 'agent' : 'client']
  })
}

/** Whether a turn waits for users or clients only, and not for its agent. */
export function waitsOnlyForAnswers(turn: ActiveTurn): boolean {
  const open = waitsFor(turn)
  return open.length > 0 && !open.includes('agent')
}

const over = new Set<string>(['completed', 'cancelled'])
