import { bits } from '../schema.ts'
import type { Schema } from '../schema.ts'

/**
 * The status of a session or chat: a 32-bit set. Bits 0 to 4 hold one activity, the bits above are flags of
 * their own. Bits of later versions are kept; `>>> 0` keeps bit 31 from turning the number negative.
 */
export type SessionStatus = number
export const SessionStatus: Schema<SessionStatus> = bits('SessionStatus')
