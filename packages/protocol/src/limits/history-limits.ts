import { MiB, row } from './limit.ts'
import type { Limit } from './limit.ts'

/** The rows of the table of limits (`limits.ts`) about the past of channels. */
export const historyLimits = {
  historyWork: row(16 * MiB, 'characters of the log that a call reads', 'L22', 'the answer is unfinished'),
  historyCalls: row(4, 'calls about the past, of a link', 'L22', 'refused with -32009'),
  historyCallsOfAll: row(32, 'the same, of all links', 'L22', 'refused with -32009'),
  pastLength: row(64 * MiB, 'characters of the states of a past', 'L22', 'refused with -32009'),
  pastLengthOfAll: row(128 * MiB, 'the same, of all channels', 'L22', 'the oldest are made again'),
  envelopesPage: row(500, 'envelopes in a page', 'L23', 'the page ends'),
  envelopesLength: row(1 * MiB, 'characters of envelopes in a page', 'L23', 'the page ends'),
} satisfies { readonly [name: string]: Limit }
