import type { Vcs } from '@atrium/host/ports/vcs'
import { limits as defaultLimits } from '@atrium/protocol/limits'
import type { LimitValues } from '@atrium/protocol/limits'
import { findProgram } from '../process/which.ts'
import { ignoredAmong } from './ignored.ts'
import { trackedFiles, untrackedFiles } from './files.ts'
import type { GitProcesses } from './processes.ts'
import { remotesOf } from './remotes.ts'
import type { Repository } from './repository.ts'
import { GitRunner } from './run.ts'
import type { GitUser } from './config.ts'
import { currentUser, trustedRepository } from './trusted.ts'
import { withShadowGitDir } from './shadow-git-dir.ts'
import type { ShadowGitDir } from './shadow-git-dir.ts'
import { parseStatus } from './status.ts'

export interface GitOptions {
  /** The directories in which `git` is looked for, in the form of PATH. Default: the PATH of this process. */
  readonly path?: string
  readonly user?: GitUser
  readonly limits?: GitLimits
  readonly processes?: GitProcesses
}

export type GitLimits = Pick<LimitValues, 'vcsMs' | 'vcsBytes' | 'vcsRuns'>

/**
 * Returns version control by the `git` command. A repository is untrusted: its config can name programs that even
 * `git status` runs. So git never reads that config as its own. It works on a shadow git directory, which has the
 * repository's commits, index and branches, and a config written here (S-41b).
 */
export function gitVcs(options: GitOptions = {}): Vcs {
  const {
    path = process.env['PATH'] ?? '',
    user = currentUser(),
    limits = defaultLimits,
    processes,
  } = options
  let found: Promise<GitRunner | undefined> | undefined
  const findGit = () =>
    (found ??= findProgram('git', path).then((program) =>
      program === undefined ? undefined : new GitRunner(program, path, limits, processes),
    ))

  const repositoryAt = async (root: string): Promise<{ git: GitRunner; repository: Repository }> => {
    const git = await findGit()
    const repository = git && (await trustedRepository(git, root, user))
    if (!git || repository?.root !== root) throw new Error('there is no repository here')
    return { git, repository }
  }
  const inRepository = async <T>(root: string, task: (shadow: ShadowGitDir) => Promise<T>): Promise<T> => {
    const { git, repository } = await repositoryAt(root)
    return withShadowGitDir(git, repository, user, task)
  }

  return {
    async root(directory) {
      const git = await findGit()
      return git && (await trustedRepository(git, directory, user))?.root
    },
    status: (root) =>
      inRepository(root, async ({ run, config }) => ({
        ...parseStatus(await run(statusCommand)),
        remotes: remotesOf(config),
      })),
    async gitDirectories(root) {
      const { gitDir, commonDir } = (await repositoryAt(root)).repository
      return [...new Set([gitDir, commonDir])]
    },
    ignored: (root, paths) => inRepository(root, (shadow) => ignoredAmong(shadow, paths)),
    files: (root, most) =>
      inRepository(root, async (shadow) => {
        const tracked = await trackedFiles(shadow, most)
        if (tracked.length >= most) return tracked
        return [...tracked, ...(await untrackedFiles(shadow, most - tracked.length))]
      }),
  }
}

/** Submodules are ignored: git would enter them and read their configs, which are untrusted too. */
const statusCommand = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--untracked-files=all',
  '--no-renames',
  '--ignore-submodules=all',
]
