import type { Uri } from '@atrium/protocol/channel'
import type { ActiveTurn } from '@atrium/protocol/chat/state'
import { count } from '../tally.ts'
import type { ReferenceModel } from './reference-model.ts'

/** The limit of the text in the state of an active turn, in characters. It is short, so that many runs reach it. */
export const turnLength = 2000

/**
 * Checks I10: the text in the state of an active turn is bounded, because every subscriber is sent the state in one
 * message. Returns the problem of a chat, if it has one.
 */
export function textProblem(model: ReferenceModel, chat: Uri): string | undefined {
  const turn = model.chat(chat)?.activeTurn
  if (!turn) return undefined
  const length = textLength(turn)
  return length > turnLength ? `${chat} has ${length} characters of text in its active turn` : undefined
}

/** Counts an action, given as JSON, if it adds a reference to text that is stored apart from the state. */
export function countReference(action: string): void {
  if (action.includes('"kind":"contentRef"')) count('text stored apart')
}

function textLength({ responseParts }: ActiveTurn): number {
  return responseParts.reduce(
    (sum, part) => sum + (part.kind === 'markdown' || part.kind === 'reasoning' ? part.content.length : 0),
    0,
  )
}
