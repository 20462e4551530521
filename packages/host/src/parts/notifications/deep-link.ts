import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { Activity, activityOf } from '@atrium/protocol/status'

const prefix = 'ahp-session:/'

/**
 * The place of a session in the page of the host. If a chat of the session waits for a person, the link leads to that chat.
 * So the link also tells the page whether the session waits or has ended.
 */
export function deepLink({ resource, chats = [] }: Pick<SessionSummary, 'resource' | 'chats'>): string {
  const waiting = chats.find(({ status = 0 }) => activityOf(status) === Activity.InputNeeded)?.resource
  return `/#/session/${encodeURIComponent(nameOf(resource))}${waiting === undefined ? '' : `/${encodeURIComponent(waiting)}`}`
}

function nameOf(session: Uri): string {
  return session.startsWith(prefix) ? session.slice(prefix.length) : session
}
