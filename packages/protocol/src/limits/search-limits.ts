import { KiB, row } from './limit.ts'
import type { Limit } from './limit.ts'

/** The rows of the table of limits (`limits.ts`) about the search in the texts of all sessions. */
export const searchLimits = {
  indexedLength: row(64 * KiB, 'characters of a text', 'Q21', 'the rest is not found'),
  queryLength: row(1000, 'characters of a query', 'Q24', 'refused with -32602'),
  queryTerms: row(32, 'words and phrases of a query', 'Q24', 'refused with -32602'),
  foundPage: row(100, 'texts in a page', 'Q25', 'the page ends, with a cursor'),
  excerptLength: row(400, 'characters of an excerpt', 'Q25', 'cut off'),
} satisfies { readonly [name: string]: Limit }
