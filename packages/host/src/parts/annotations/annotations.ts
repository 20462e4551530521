import { catalogOf } from '../../catalog/catalog.ts'
import { listChangesOf } from '../../catalog/session-list/list-changes.ts'
import { sessionFeedOf } from '../../catalog/session-feed.ts'
import { annotatedSession } from '../../channels/annotations-channel.ts'
import type { Core } from '../../kernel/core.ts'
import { annotationCounts } from '../../catalog/summary.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { announce } from '../../catalog/announce.ts'

/**
 * Updates the counts of annotations in the session's entry of the session list, in the transaction that changes the
 * annotations.
 */
export function annotationsFollowUps(core: Core, channel: Channel<'annotations'>): void {
  const session = sessionOf(core, channel)
  if (!session) return
  if (catalogOf(core).creatorOf(session.uri) === undefined)
    listChangesOf(core).changed(session.uri, core.log.last)
  catalogOf(core).annotated(session.uri, session.head, annotationCounts(channel.uri, channel.head))
  // Announces the session, so that a session with a comment is not disposed of when its creator leaves.
  announce(core, session)
}

/** Sends the new counts to the clients that see the session list, once the change is committed. */
export function annotationsCommitted(core: Core, channel: Channel<'annotations'>): void {
  const session = sessionOf(core, channel)
  if (!session?.committed) return
  const counts = annotationCounts(channel.uri, channel.committedState)
  const changes = catalogOf(core).update(session.uri, session.committed, counts)
  if (changes) sessionFeedOf(core).changed(session.uri, changes)
}

/** Returns the session of annotations. While annotations are in memory, their session is in memory, too. */
function sessionOf(core: Core, { uri }: Channel<'annotations'>): Channel<'session'> | undefined {
  const session = annotatedSession(core, uri)
  return session === undefined ? undefined : core.log.channel(session, 'session')
}
