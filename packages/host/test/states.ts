import type { ChatState } from '@atrium/protocol/chat/state'
import { Activity } from '@atrium/protocol/status'
import type { TerminalState } from '@atrium/protocol/terminal/state'

/** A chat without turns. */
export function emptyChat(resource: string): ChatState {
  return { resource, title: '', status: Activity.Idle, modifiedAt: '2026-01-01T00:00:00.000Z', turns: [] }
}

/** A terminal that a client has claimed, with a running shell. */
export function heldTerminal(clientId: string): TerminalState {
  return {
    title: '',
    claim: { kind: 'client', clientId },
    content: [],
    lifecycle: { status: 'running' },
  }
}
