import { KiB, row } from './limit.ts'
import type { Limit } from './limit.ts'

/** The rows of the table of limits (`limits.ts`) about the web page of a host and about entering it. */
export const webLimits = {
  pageSockets: row(64, 'sockets that are being answered with files', 'G11', '503'),
  pageMs: row(30_000, 'ms of an answer with a file', 'G11', 'the socket is destroyed'),
  enterBytes: row(4 * KiB, 'bytes of a request to enter', 'G13', '413'),
  tickets: row(256, 'challenges, or tickets, that were not used', 'G14', 'the oldest is forgotten'),
  ticketMs: row(30_000, 'ms of an unused challenge or ticket', 'G14', 'it is refused'),
} satisfies { readonly [name: string]: Limit }
