import type { ChangesetFile } from '@atrium/protocol/changeset/state'
import { fileUri } from '@atrium/protocol/file-uri'
import type { CommitResult } from '../extensions.ts'
import type { Channel } from '../../../kernel/log/channel.ts'
import { CommitFailed } from '../../../ports/commits.ts'
import type { CommitRequest, Commits } from '../../../ports/commits.ts'
import { pathWithin, pathsIn } from '../directories.ts'

/** The session and the files of an operation that stages or commits. */
export interface Committing {
  readonly commits: Commits
  readonly session: Channel<'session'>
  /** The files that the changeset shows. */
  readonly shown: readonly ChangesetFile[]
  /** The files of `shown` that a person has chosen. Absent: nobody has chosen. */
  readonly chosen?: readonly ChangesetFile[] | undefined
}

export async function stageFiles(committing: Committing, operation: 'stage' | 'unstage'): Promise<string> {
  const { commits, session, shown, chosen = shown } = committing
  for (const { directory, paths } of byDirectory(session, chosen)) await commits[operation](directory, paths)
  return `${counted(chosen.length)} ${operation === 'stage' ? 'staged' : 'unstaged'}.`
}

/**
 * Commits the chosen files as they are on the disk. If nobody has chosen, commits what is staged; if nothing is staged, all files
 * that the changeset shows.
 */
export async function commitFiles(committing: Committing, message: string): Promise<CommitResult> {
  const { commits } = committing
  const made: CommitResult['commits'][number][] = []
  try {
    for (const { directory, paths } of await whatToCommit(committing)) {
      const request: CommitRequest = { message, ...(paths && { paths }) }
      const { id, branch, paths: changed } = await commits.commit(directory, request)
      made.push({ id, branch, files: changed.map((path) => fileUri(`${directory}/${path}`)) })
    }
  } catch (error) {
    // The folders may be in different repositories. A commit in one of them stays, so the error names it.
    if (error instanceof CommitFailed && made.length > 0)
      throw new CommitFailed(`${sentence(made)} ${error.message}`)
    throw error
  }
  if (made.length === 0) throw new CommitFailed('There is nothing to commit.')
  return { message: sentence(made), commits: made }
}

/**
 * Decides what to commit: returns the folders, with the files to commit as they are on the disk. A folder without
 * files stands for what is staged in it.
 */
async function whatToCommit({ commits, session, shown, chosen }: Committing): Promise<readonly Part[]> {
  if (chosen) return byDirectory(session, chosen)
  const folders = pathsIn(session.head.workingDirectories)
  const staged = await Promise.all(folders.map((directory) => commits.staged(directory)))
  const parts = folders.filter((_, at) => (staged[at] ?? []).length > 0).map((directory) => ({ directory }))
  return parts.length > 0 ? parts : byDirectory(session, shown)
}

interface Part {
  readonly directory: string
  readonly paths?: readonly string[]
}

/** Groups the paths of files by working directory. A renamed file has two paths. */
function byDirectory(
  session: Channel<'session'>,
  files: readonly ChangesetFile[],
): readonly Required<Part>[] {
  const uris = [
    ...new Set(files.flatMap(({ edit }) => [edit.before?.uri ?? [], edit.after?.uri ?? []].flat())),
  ]
  return pathsIn(session.head.workingDirectories).flatMap((directory) => {
    const paths = uris.flatMap((uri) => pathWithin(directory, uri) ?? [])
    return paths.length === 0 ? [] : [{ directory, paths }]
  })
}

function sentence(made: CommitResult['commits']): string {
  return made
    .map(({ id, branch, files }) => `${counted(files.length)} committed on ${branch} as ${id.slice(0, 10)}.`)
    .join(' ')
}

function counted(count: number): string {
  return count === 1 ? '1 file was' : `${count} files were`
}
