import type { ChangesetFile, ChangesetOperation } from '@atrium/protocol/changeset/state'
import { fileUri } from '@atrium/protocol/file-uri'
import type { Channel } from '../../../kernel/log/channel.ts'
import { CommitFailed } from '../../../ports/commits.ts'
import type { Commits } from '../../../ports/commits.ts'
import { pathWithin, pathsIn } from '../directories.ts'
import { fileOperations } from '../operation-list.ts'
import { listed } from '../undo/listed.ts'
import { commitMessage } from './commit-message.ts'

/**
 * Returns the files of the changeset of uncommitted files, with a note at each file that is staged, and the
 * operations that the changeset offers.
 */
export async function uncommitted(
  commits: Commits | undefined,
  session: Channel<'session'>,
  found: readonly ChangesetFile[],
): Promise<{
  readonly files: readonly ChangesetFile[]
  readonly operations: readonly ChangesetOperation[]
}> {
  if (found.length === 0) return { files: found, operations: [] }
  if (!commits) return { files: found, operations: fileOperations }
  const staged = new Set<string>()
  for (const directory of pathsIn(session.head.workingDirectories))
    for (const path of await stagedIn(commits, directory)) staged.add(fileUri(`${directory}/${path}`))
  const files = found.map((file) => (isStaged(file, staged) ? withStaged(file) : file))
  return { files, operations: [...fileOperations, ...commitOperations(session, files)] }
}

/**
 * The staged files of a folder. Empty if git cannot tell them (`CommitFailed`), so that the changeset is still shown. A client
 * that stages or commits is told why that is not possible.
 */
async function stagedIn(commits: Commits, directory: string): Promise<readonly string[]> {
  return commits.staged(directory).catch((error: unknown) => {
    if (error instanceof CommitFailed) return []
    throw error
  })
}

function isStaged({ edit }: ChangesetFile, staged: ReadonlySet<string>): boolean {
  return [edit.before?.uri, edit.after?.uri].some((uri) => uri !== undefined && staged.has(uri))
}

function withStaged(file: ChangesetFile): ChangesetFile {
  const about = file._meta?.['x-atrium']
  return { ...file, _meta: { ...file._meta, 'x-atrium': { ...asObject(about), staged: true } } }
}

function commitOperations(
  { head }: Channel<'session'>,
  files: readonly ChangesetFile[],
): readonly ChangesetOperation[] {
  const staged = files.filter(({ _meta }) => 'staged' in asObject(_meta?.['x-atrium']))
  const paths = namesOf(staged.length > 0 ? staged : files, pathsIn(head.workingDirectories))
  const [subject] = commitMessage(head.title, paths).split('\n')
  return [
    {
      id: 'stage',
      label: 'Stage Changes',
      icon: 'add',
      group: 'commit',
      scopes: ['changeset', 'resource'],
      status: 'idle',
    },
    {
      id: 'unstage',
      label: 'Unstage Changes',
      icon: 'remove',
      group: 'commit',
      scopes: ['changeset', 'resource'],
      status: staged.length > 0 ? 'idle' : 'disabled',
    },
    {
      id: 'commit',
      label: staged.length > 0 ? 'Commit Staged Files' : 'Commit All Files',
      icon: 'git-commit',
      group: 'commit',
      scopes: ['changeset'],
      confirmation: `Commit with the message “${subject}”: ${listed(paths)}.`,
      status: 'idle',
    },
  ]
}

/** The names of files for people: relative to their working directories. */
export function namesOf(files: readonly ChangesetFile[], directories: readonly string[]): readonly string[] {
  return files.flatMap(({ id }) => directories.flatMap((directory) => pathWithin(directory, id) ?? []))
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
