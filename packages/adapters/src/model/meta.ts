import type { PendingMessage } from '@atrium/protocol/chat/message'

/** What this agent writes beside what it says, so that the log has all that it must know later. */
export interface Note {
  /** At which point of its turn a call was made: those of one step were made together. */
  readonly step?: number
  /** A message that came in the midst of a turn. */
  readonly steering?: PendingMessage
  /** What stands for all turns up to this one. */
  readonly summary?: string
  readonly upTo?: string
  /** Of a usage: the tokens of the last request and its answer; whether the model had nothing to add. */
  readonly context?: number
  readonly done?: boolean
  /** What a turn has cost, in dollars. */
  readonly cost?: number
}

const key = 'x-atrium'

export function noted(note: Note): { readonly _meta: { readonly [key: string]: unknown } } {
  return { _meta: { [key]: note } }
}

/** It was read from a log, and is ours: nobody else may say what agents say. */
export function noteOf(
  said: { readonly _meta?: { readonly [key: string]: unknown } | undefined } | undefined,
): Note {
  const note = said?._meta?.[key]
  return typeof note === 'object' && note !== null ? note : {}
}
