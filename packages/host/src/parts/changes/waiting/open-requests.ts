import type { Uri } from '@atrium/protocol/channel'
import type { ResponsePart } from '@atrium/protocol/chat/state'

/** A part of an active turn that is not finished. */
export interface OpenRequest {
  /** Who has to act before the part goes on: a person who answers, a client that runs its tool, or the agent. */
  readonly waitsFor: 'person' | 'client' | 'agent'
  /** The chats of the workers to which a running call has given its task. */
  readonly workers: readonly Uri[]
}

/** The parts of a turn that are not finished. */
export function openRequests(parts: readonly ResponsePart[] = []): readonly OpenRequest[] {
  return parts.flatMap((part): readonly OpenRequest[] => {
    if (part.kind === 'inputRequest')
      return part.response === undefined ? [{ waitsFor: 'person', workers: [] }] : []
    if (part.kind !== 'toolCall') return []
    const call = part.toolCall
    if (call.status === 'completed' || call.status === 'cancelled') return []
    if (asking.has(call.status)) return [{ waitsFor: 'person', workers: [] }]
    const isRunning = call.status === 'running'
    const workers = isRunning
      ? (call.content ?? []).flatMap((content) => (content.type === 'subagent' ? [content.resource] : []))
      : []
    return [{ waitsFor: isRunning && call.contributor?.kind === 'client' ? 'client' : 'agent', workers }]
  })
}

const asking = new Set(['pending-confirmation', 'pending-result-confirmation', 'auth-required'])
