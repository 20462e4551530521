import type { Chat } from '@atrium/host/ports/agent'
import type { Turn } from '@atrium/protocol/chat/state'

/** Options for converting turns to the parts of model messages. */
export interface PartOptions {
  readonly chat: Pick<Chat, 'read'>
  /** Whether the model accepts images. */
  readonly vision: boolean
  /** Maximum number of characters of one text. */
  readonly maxLength: number
}

/** The fields of a turn, active or finished, that a model is sent. */
export type TurnContent = Pick<Turn, 'message' | 'responseParts'>
