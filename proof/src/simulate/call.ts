import type { ActiveTurn, ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'

/** What a turn has open: a person is to say something, a client is to run a tool that it lends, or an agent is at work. */
type Open = 'person' | 'client' | 'agent'

export function callsOf(turn: Pick<ActiveTurn, 'responseParts'> | undefined): readonly ToolCallState[] {
  return (turn?.responseParts ?? []).flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []))
}

export function callIn({ activeTurn }: Partial<ChatState>, toolCallId: string): ToolCallState | undefined {
  return callsOf(activeTurn).find((call) => call.toolCallId === toolCallId)
}

/** The client that runs a call, while it does. */
export function lenderOf(call: ToolCallState | undefined): string | undefined {
  return call?.status === 'running' && call.contributor?.kind === 'client'
    ? call.contributor.clientId
    : undefined
}

export function openIn({ responseParts }: Pick<ActiveTurn, 'responseParts'>): readonly Open[] {
  return responseParts.flatMap((part): readonly Open[] => {
    if (part.kind === 'inputRequest') return part.response === undefined ? ['person'] : []
    if (part.kind !== 'toolCall' || over.has(part.toolCall.status)) return []
    if (part.toolCall.status.startsWith('pending')) return ['person']
    return [lenderOf(part.toolCall) === undefined ? 'agent' : 'client']
  })
}

/** Nobody but people, and clients that run tools, has anything to do with a turn. */
export function onlyWaits(turn: ActiveTurn): boolean {
  const open = openIn(turn)
  return open.length > 0 && !open.includes('agent')
}

const over = new Set<string>(['completed', 'cancelled'])
