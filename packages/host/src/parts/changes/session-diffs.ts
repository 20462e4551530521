import { sessionFeedOf } from '../../catalog/session-feed.ts'
import { changesOf } from '../../catalog/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import { sessionChangesetUri } from '@atrium/protocol/changeset/catalogue'
import { diffsOf } from '@atrium/protocol/versions/diffs'
import { shapeOf } from '@atrium/protocol/versions/shape'
import { lenses } from '@atrium/protocol/versions/lenses'
import { rebuild } from '@atrium/protocol/versions/lens'
import { wakeIfSound } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Entry } from '../../kernel/log/entry.ts'
import { parseChangesetUri } from '../../catalog/changeset-uri.ts'

const first = lenses.get('0.1.0')
/** The oldest version that has changesets. */
const second = lenses.get('0.2.0')

/**
 * Tells clients that speak AHP 0.1 about the files that a session has changed. AHP 0.1 has no changesets: the changed
 * files are part of the session, and of its entry in the session list. These clients are told about changes of the
 * list without a subscription.
 */
export function changesetCommitted(core: Core, { uri }: Channel<'changeset'>, entry: Entry): void {
  const sessionFeed = sessionFeedOf(core)
  const { action, states } = entry
  if (sessionFeed.followers.size === 0 || !first || !states) return
  const name = parseChangesetUri(uri)
  if (name?.scope.kind !== 'session') return
  const lowered = first.actionDown('changeset', action, { viewer: '', ...states })
  if (lowered === rebuild) return
  for (const change of lowered) if (isDiffs(change)) sessionFeed.diffsChanged(name.owner, change.diffs)
}

/**
 * Returns the files that a session has changed, in the form of AHP 0.1, for its entry in the session list. Undefined if
 * they were never computed: no client of AHP 0.1 was connected when a turn ended, and none was subscribed.
 */
export async function sessionDiffs(core: Core, session: Uri): Promise<readonly unknown[] | undefined> {
  const uri = sessionChangesetUri(session)
  const channel = changesOf(core)?.isChangeset(uri) ? await wakeIfSound(core, uri) : undefined
  const state = channel?.is('changeset') ? channel.committed : undefined
  return state && diffsOf(shapeOf(second?.stateDown('changeset', state)))
}

/** Whether an action of 0.1 replaces the list of the files that a session has changed. */
function isDiffs(action: object): action is { readonly diffs: readonly unknown[] } {
  return 'diffs' in action && Array.isArray(action.diffs)
}
