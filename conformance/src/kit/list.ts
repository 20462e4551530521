import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { check } from './check.ts'
import type { Client } from './client.ts'
import type { Notification } from './link.ts'

/** More pages than any list needs. The limit ends a listing whose cursors lead in a circle. */
const mostPages = 10_000

/** Every session of the host. */
export async function listSessions(client: Client, limit?: number): Promise<readonly SessionSummary[]> {
  return (await listPages(client, limit)).flat()
}

export async function listPages(
  client: Client,
  limit?: number,
): Promise<readonly (readonly SessionSummary[])[]> {
  const pages: (readonly SessionSummary[])[] = []
  let cursor: string | undefined
  do {
    check(pages.length < mostPages, `a list that ends within ${mostPages} pages`, cursor)
    const page = await client.mustSucceed('listSessions', { limit, cursor })
    pages.push(page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return pages
}

/** Tells whether the params of a notification carry the summary of this session. */
export function isSummaryOf(session: Uri): (params: Notification['params']) => boolean {
  return ({ summary }) => (summary as SessionSummary | undefined)?.resource === session
}
