import { KiB, row } from './limit.ts'
import type { Limit } from './limit.ts'

/** The rows of the table of limits (`limits.ts`) about the web page of a host, entering it, notifications and telemetry. */
export const webLimits = {
  pageSockets: row(64, 'sockets that are being answered with files', 'G11', '503'),
  pageMs: row(30_000, 'ms of an answer with a file', 'G11', 'the socket is destroyed'),
  enterBytes: row(4 * KiB, 'bytes of a request to enter', 'G13', '413'),
  tickets: row(256, 'challenges, or tickets, that were not used', 'G14', 'the oldest is forgotten'),
  ticketMs: row(30_000, 'ms of an unused challenge or ticket', 'G14', 'refused'),
  pushTargets: row(64, 'targets of notifications', 'T20', 'a further one is refused'),
  pushMs: row(10_000, 'ms of a notification that is being sent', 'T20', 'it has failed'),
  pushDelayMs: row(2000, 'ms for which a session must wait or have ended', 'T22', 'people are notified'),
  telemetryRecords: row(256, 'log lines, spans or metrics in a batch', 'T31', 'the batch is sent'),
  telemetryText: row(4 * KiB, 'characters of a log line for telemetry', 'T31', 'the rest is left out'),
  notices: row(500, 'records of notifications', 'T23', 'the oldest record is deleted'),
} satisfies { readonly [name: string]: Limit }
