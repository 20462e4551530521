import { commitsOf } from '../../../catalog/machine.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ChangesetFile } from '@atrium/protocol/changeset/state'
import { AhpError } from '@atrium/protocol/errors'
import type { CommitParams, CommitResult } from '../extensions.ts'
import type { Core } from '../../../kernel/core.ts'
import { CommitFailed } from '../../../ports/commits.ts'
import { followGit } from '../../resources/project.ts'
import type { Channel } from '../../../kernel/log/channel.ts'
import type { Computed } from '../changeset-job.ts'
import { pathsIn } from '../directories.ts'
import { commitFiles, stageFiles } from './commit-files.ts'
import type { Committing } from './commit-files.ts'
import { commitMessage } from './commit-message.ts'
import { namesOf } from './uncommitted.ts'

/** The changeset of a session's uncommitted files. */
export interface Uncommitted {
  readonly core: Core
  readonly session: Channel<'session'>
  /** Computes the changeset as it is now. */
  readonly compute: () => Promise<Computed>
}

export type CommitOperation = 'stage' | 'unstage' | 'commit'

export function isCommitOperation(operationId: string): operationId is CommitOperation {
  return ['stage', 'unstage', 'commit'].includes(operationId)
}

/** Runs an operation of the changeset of uncommitted files. The message of a commit is made from the session's title. */
export async function commitOperation(
  uncommitted: Uncommitted,
  operationId: CommitOperation,
  resource: Uri | undefined,
): Promise<string> {
  return withGit(uncommitted, async (committing) => {
    const chosen = resource === undefined ? {} : { chosen: filesNamed(committing.shown, [resource]) }
    if (operationId !== 'commit') return stageFiles({ ...committing, ...chosen }, operationId)
    const { title, workingDirectories } = uncommitted.session.head
    const directories = pathsIn(workingDirectories)
    const staged = committing.shown.filter(({ _meta }) => isMarkedStaged(_meta?.['x-atrium']))
    const names = namesOf(staged.length > 0 ? staged : committing.shown, directories)
    return (await commitFiles(committing, commitMessage(title, names))).message
  })
}

/** Commits with a message that a person has written. */
export async function commitWith(
  uncommitted: Uncommitted,
  { message, files }: CommitParams,
): Promise<CommitResult> {
  const { commitLength } = uncommitted.core.limits
  if (message.length > commitLength)
    throw AhpError.invalidParams(`x-atrium/commit: the message has more than ${commitLength} characters`)
  if (files?.length === 0) throw AhpError.invalidParams('x-atrium/commit: files is empty')
  return withGit(uncommitted, (committing) => {
    const chosen = files && { chosen: filesNamed(committing.shown, files) }
    return commitFiles({ ...committing, ...chosen }, message)
  })
}

/** Runs a task with the uncommitted files as they are now. Afterwards the state of the session has the new git status. */
async function withGit<T>(
  { core, session, compute }: Uncommitted,
  task: (committing: Committing) => Promise<T>,
): Promise<T> {
  const commits = commitsOf(core)
  if (!commits) throw new CommitFailed('This host does not commit.')
  const { files: shown, error } = await compute()
  if (shown.length === 0) throw new CommitFailed(error?.message ?? 'There is nothing to commit.')
  try {
    return await task({ commits, session, shown })
  } finally {
    followGit(core, session)
  }
}

/**
 * Finds the files with these URIs. A renamed file has two URIs. Throws if the changeset does not show one of the
 * files.
 */
function filesNamed(shown: readonly ChangesetFile[], named: readonly Uri[]): readonly ChangesetFile[] {
  return named.map((uri) => {
    const found = shown.find(({ id, edit }) => id === uri || edit.before?.uri === uri)
    if (found) return found
    throw AhpError.invalidParams(`the changeset does not show ${JSON.stringify(uri.slice(0, 200))}`)
  })
}

function isMarkedStaged(about: unknown): boolean {
  return typeof about === 'object' && about !== null && 'staged' in about
}
