import type { Uri } from '@atrium/protocol/channel'
import type { ChatSummary } from '@atrium/protocol/chat/state'
import { chatUri } from '@atrium/protocol/uri'
import type { WrongLog } from './wrong-log.ts'
import type { Beginning } from './wrong-moves.ts'

/** A new chat of a session, which does not list it yet. */
export function bornChat(
  host: WrongLog,
  session: Uri,
  uri: Uri,
  { turns, origin }: Beginning = { turns: [] },
): ChatSummary {
  const about = { resource: uri, title: '', status: 1, modifiedAt: new Date().toISOString() }
  const movable = uri !== chatUri(session) && !host.has('unmovable') && { movable: true }
  const summary = { ...about, ...movable, ...(origin && { origin }) }
  const elsewhere = host.has('createdStateForeign') && uri !== chatUri(session)
  const resource = elsewhere ? chatUri(session) : uri
  host.channels.set(uri, { kind: 'chat', state: { ...summary, resource, turns } })
  host.owners.set(uri, session)
  return summary
}
