import type { Happening } from '../session/events.ts'

/** A happening as one document of `--json`. */
export function documentOf(happening: Happening): object {
  switch (happening.kind) {
    case 'began': {
      const { id, message } = happening.turn
      return { type: happening.again ? 'turnResumed' : 'turnStarted', turnId: id, message: message.text }
    }
    case 'text':
    case 'reasoning':
      return { type: happening.kind, turnId: happening.turnId, text: happening.text }
    case 'call':
      return { type: 'toolCall', turnId: happening.turnId, ...happening.call }
    case 'notice':
      return { type: 'notice', turnId: happening.turnId, text: happening.text }
    case 'failed':
      return {
        type: 'error',
        turnId: happening.turnId,
        ...happening.part.error,
        resumable: happening.part.resumable === true,
      }
    case 'waits':
      return { type: happening.as, id: happening.message.id, message: happening.message.message.text }
    default: {
      const { id, state, duration, usage } = happening.turn
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
