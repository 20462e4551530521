import { vcsOf } from '../../catalog/machine.ts'
import type { Uri } from '@atrium/protocol/channel'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import type { ProjectInfo } from '@atrium/protocol/session/state'
import { compact } from '@atrium/protocol/update'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import { equal } from '../../kernel/log/equal.ts'
import type { Vcs, VcsStatus } from '../../ports/vcs.ts'

/**
 * Returns a session's project: the working tree that contains the session's first directory. Without a working tree the
 * project is that directory.
 */
export async function projectOf(core: Core, directory: Uri | undefined): Promise<ProjectInfo | undefined> {
  const named = directory === undefined ? undefined : pathOf(directory)
  if (!named?.ok) return undefined
  const root = (await query(core, (vcs) => vcs.root(named.path))) ?? named.path
  return { uri: fileUri(root), displayName: root.slice(root.lastIndexOf('/') + 1) || root }
}

/** Reads the git status of a session's directory once the session is ready and after each turn, and publishes changes. */
export function followGit(core: Core, session: Channel<'session'>): void {
  const directory = session.head.workingDirectories?.[0]
  const named = directory === undefined ? undefined : pathOf(directory)
  if (!vcsOf(core) || !named?.ok) return
  const busy = refreshing.has(session)
  refreshing.set(session, busy)
  if (!busy) void refresh(core, session, named.path)
}

/** The sessions whose git status is being read. The value tells whether the status must be read once more afterwards. */
const refreshing = new WeakMap<Channel, boolean>()

async function refresh(core: Core, session: Channel<'session'>, directory: string): Promise<void> {
  for (;;) {
    refreshing.set(session, false)
    const git = await query(core, async (vcs) => {
      const root = await vcs.root(directory)
      return root === undefined ? undefined : gitMeta(await vcs.status(root))
    })
    if (core.log.channel(session.uri) !== session || core.readOnlyReason() !== undefined) break
    const { _meta: kept = {} } = session.head
    if (git && !equal(kept['git'], git))
      core.log.append(session, { type: 'session/metaChanged', _meta: { ...kept, git } })
    if (!refreshing.get(session)) break
  }
  refreshing.delete(session)
}

/** Returns the git status under the keys that clients know. */
function gitMeta({ branch, upstream, ahead, behind, remotes, changes }: VcsStatus): object {
  return compact<object>({
    branchName: branch,
    upstreamBranchName: upstream,
    outgoingChanges: ahead,
    incomingChanges: behind,
    uncommittedChanges: changes.length,
    hasGitHubRemote: remotes.some((remote) => /^(?:\w+:\/\/|git@)?github\.com[/:]/.test(remote)),
  })
}

/** Asks the version control. Returns undefined if that fails, because no session may fail on account of version control. */
async function query<T>(core: Core, question: (vcs: Vcs) => Promise<T>): Promise<T | undefined> {
  const vcs = vcsOf(core)
  if (!vcs) return undefined
  try {
    return await question(vcs)
  } catch (error) {
    core.world.report('version control did not answer', error)
    return undefined
  }
}
