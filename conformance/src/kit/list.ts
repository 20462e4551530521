import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { check } from './check.ts'
import type { Client } from './client.ts'
import type { Note } from './link.ts'

/** More than any list should need: a cursor that leads in a circle shall not keep the kit for ever. */
const mostPages = 10_000

/** Every session of the host. */
export async function listed(client: Client, limit?: number): Promise<readonly SessionSummary[]> {
  return (await pages(client, limit)).flat()
}

export async function pages(client: Client, limit?: number): Promise<readonly (readonly SessionSummary[])[]> {
  const found: (readonly SessionSummary[])[] = []
  let cursor: string | undefined
  do {
    check(found.length < mostPages, `a list that ends within ${mostPages} pages`, cursor)
    const page = await client.must('listSessions', { limit, cursor })
    found.push(page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return found
}

/** Whether a notification has the summary of a session. */
export function summarizes(session: Uri): (params: Note['params']) => boolean {
  return ({ summary }) => (summary as SessionSummary | undefined)?.resource === session
}
