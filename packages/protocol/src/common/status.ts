import { bits } from '../schema.ts'
import type { Schema } from '../schema.ts'

/**
 * The status of a session or chat, as 32 bits. Bits 0 to 4 hold the activity, each higher bit is a flag. Bits that
 * only later versions define are kept. `>>> 0` after a bit operation keeps the number positive when bit 31 is set.
 */
export type SessionStatus = number
export const SessionStatus: Schema<SessionStatus> = bits('SessionStatus')
