import type { Chat } from '@atrium/host/ports/agent'
import type { Turn } from '@atrium/protocol/chat/state'

/** How a chat is read for a model. */
export interface Reading {
  readonly chat: Pick<Chat, 'read'>
  /** Whether the model sees images. */
  readonly vision: boolean
  /** The most characters of one text. */
  readonly most: number
}

export type Told = Pick<Turn, 'message' | 'responseParts'>
