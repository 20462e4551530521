import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CommitFailed } from '@atrium/host/ports/commits'
import { parseConfig } from '../config.ts'
import type { GitUser } from '../config.ts'
import type { Repository } from '../repository.ts'
import type { GitRunner } from '../run.ts'

/** The settings of the user and of the repository that a commit depends on. Git parses them, and acts on none of them. */
export interface CommitSettings {
  /** Variables with the author and the committer. Undefined if the config does not name them. */
  readonly identity: { readonly [name: string]: string } | undefined
  /** Whether every commit must be signed. */
  readonly signed: boolean
  /** Options for git about attributes and line ends. */
  readonly options: readonly string[]
}

/** The settings for commands that only read a repository. */
export const noSettings: CommitSettings = { identity: undefined, signed: false, options: [] }

export async function commitSettings(
  git: GitRunner,
  repository: Repository,
  { home, configHome }: GitUser,
): Promise<CommitSettings> {
  // The git directory is named, because a user may have settings for some repositories only (`includeIf`).
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: configHome,
    GIT_CONFIG_GLOBAL: undefined,
    GIT_DIR: repository.gitDir,
  }
  const read = async (...args: readonly string[]) => {
    const { stdout, exitCode } = await git
      .run(['config', '--includes', '-z', ...args], { cwd: repository.root, env })
      .catch(() => ({ stdout: Buffer.alloc(0), exitCode: -1 }))
    // Exit code 1 means that there is no such setting.
    if (exitCode !== 0 && exitCode !== 1) throw new CommitFailed('Your git config cannot be read.')
    return parseConfig(stdout)
  }
  const [values, paths] = await Promise.all([
    read('--get-regexp', '^((user|author|committer)\\.(name|email)|commit\\.gpgsign|core\\.autocrlf)$'),
    read('--type=path', '--get-regexp', '^core\\.attributesfile$'),
  ])
  const last = (key: string) => values.get(key)?.at(-1)?.trim() || undefined
  const attributes = paths.get('core.attributesfile')?.findLast((path) => path !== '/dev/null')
  const autocrlf = last('core.autocrlf') ?? ''
  return {
    identity: identityOf(last),
    signed: /^(true|yes|on|[1-9]\d*)$/i.test(last('commit.gpgsign') ?? ''),
    options: [
      '-c',
      `core.attributesFile=${attributes ?? join(configHome, 'git', 'attributes')}`,
      ...(/^(true|false|input)$/i.test(autocrlf) ? ['-c', `core.autocrlf=${autocrlf}`] : []),
      // Everything that a commit needs is on the disk before the branch names the commit.
      '-c',
      'core.fsync=added',
    ],
  }
}

function identityOf(last: (key: string) => string | undefined): CommitSettings['identity'] {
  const [name, email] = [last('user.name'), last('user.email')]
  const author = [last('author.name') ?? name, last('author.email') ?? email]
  const committer = [last('committer.name') ?? name, last('committer.email') ?? email]
  const [authorName, authorEmail, committerName, committerEmail] = [...author, ...committer]
  if (
    authorName === undefined ||
    authorEmail === undefined ||
    committerName === undefined ||
    committerEmail === undefined
  )
    return undefined
  return {
    GIT_AUTHOR_NAME: authorName,
    GIT_AUTHOR_EMAIL: authorEmail,
    GIT_COMMITTER_NAME: committerName,
    GIT_COMMITTER_EMAIL: committerEmail,
  }
}

/** Refuses a repository with an unfinished operation, such as a merge, or whose index is in use. */
export async function refuseBusy({ gitDir }: Repository): Promise<void> {
  const exists = async (name: string) => (await stat(join(gitDir, name)).catch(() => undefined)) !== undefined
  for (const [name, work] of inProgress)
    if (await exists(name))
      throw new CommitFailed(`The repository is in the middle of a ${work}. Finish it or abort it first.`)
  if (await exists('index.lock')) throw new CommitFailed(locked)
}

const inProgress = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
] as const

export const locked =
  'Another git command is using the index of the repository (index.lock). Try again when it has finished.'
