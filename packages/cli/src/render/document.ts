import type { SessionEvent } from '../session/events.ts'

/** Returns the `--json` document of an event. */
export function documentOf(event: SessionEvent): object {
  switch (event.kind) {
    case 'began': {
      const { id, message } = event.turn
      return { type: event.again ? 'turnResumed' : 'turnStarted', turnId: id, message: message.text }
    }
    case 'text':
    case 'reasoning':
      return { type: event.kind, turnId: event.turnId, text: event.text }
    case 'call':
      return { type: 'toolCall', turnId: event.turnId, ...event.call }
    case 'notice':
      return { type: 'notice', turnId: event.turnId, text: event.text }
    case 'failed':
      return {
        type: 'error',
        turnId: event.turnId,
        ...event.part.error,
        resumable: event.part.resumable === true,
      }
    case 'pending':
      return { type: event.as, id: event.message.id, message: event.message.message.text }
    default: {
      const { id, state, duration, usage } = event.turn
      return {
        type: 'turnEnded',
        turnId: id,
        state,
        ...(duration !== undefined && { duration }),
        ...(usage && { usage }),
      }
    }
  }
}
