import type { Chat } from '@atrium/host/ports/agent'
import type { Turn } from '@atrium/protocol/chat/state'

/** Options for converting turns to the parts of model messages. */
export interface PartOptions {
  readonly chat: Pick<Chat, 'read'>
  /** Whether the model accepts images. */
  readonly vision: boolean
  /** Whether the results of tools may contain images. */
  readonly imageResults: boolean
  /** The maximum number of characters of each text. */
  readonly maxLength: number
}

/** The fields of an active or finished turn that are sent to a model. */
export type TurnContent = Pick<Turn, 'message' | 'responseParts'>
