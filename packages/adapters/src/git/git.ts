import { join } from 'node:path'
import type { Vcs } from '@atrium/host/ports/vcs'
import { limits as usualLimits } from '@atrium/protocol/limits'
import type { LimitValues } from '@atrium/protocol/limits'
import { findProgram } from '../process/which.ts'
import { askIgnored } from './ignored.ts'
import { fileList, otherList } from './files.ts'
import { remotesOf } from './remotes.ts'
import { GitRuns } from './run.ts'
import { findPlace } from './repository.ts'
import type { GitPlace } from './repository.ts'
import { userConfig } from './config.ts'
import type { GitUser } from './config.ts'
import { withStandIn } from './shadow-git-dir.ts'
import type { StandIn } from './shadow-git-dir.ts'
import { readStatus } from './status.ts'

export interface GitOptions {
  /** Where programs are, as in PATH; where this process finds them, if absent. */
  readonly path?: string
  readonly user?: GitUser
  readonly limits?: GitLimits
}

export type GitLimits = Pick<LimitValues, 'vcsMs' | 'vcsBytes' | 'vcsRuns'>

/**
 * Git by its command. A repository is somebody else's: its config names programs for many occasions, and looking at a
 * tree is one. So git never reads that config: it works on a stand-in, which has the same commits, index and branches
 * and a config of our own (S-41b).
 */
export function gitVcs(options: GitOptions = {}): Vcs {
  const { path = process.env['PATH'] ?? '', user = thisUser(), limits = usualLimits } = options
  let found: Promise<GitRuns | undefined> | undefined
  const git = () =>
    (found ??= findProgram('git', path).then((program) =>
      program === undefined ? undefined : new GitRuns(program, path, limits),
    ))

  const inside = async <T>(root: string, ask: (standIn: StandIn) => Promise<T>): Promise<T> => {
    const runs = await git()
    const place = runs && (await trusted(runs, root, user))
    if (!runs || place?.root !== root) throw new Error('there is no repository here')
    return withStandIn(runs, place, user, ask)
  }

  return {
    async root(directory) {
      const runs = await git()
      return runs && (await trusted(runs, directory, user))?.root
    },
    status: (root) =>
      inside(root, async ({ run, config }) => ({
        ...readStatus(await run(statusOf)),
        remotes: remotesOf(config),
      })),
    ignored: (root, paths) => inside(root, (standIn) => askIgnored(standIn, paths)),
    files: (root, most) =>
      inside(root, async (standIn) => {
        const known = await fileList(standIn, most)
        return known.length < most ? [...known, ...(await otherList(standIn, most - known.length))] : known
      }),
  }
}

function thisUser(): GitUser {
  const home = process.env['HOME'] ?? ''
  return { home, settings: process.env['XDG_CONFIG_HOME'] ?? join(home, '.config') }
}

/** Submodules are repositories of their own, with configs of their own: git would go into them and read those. */
const statusOf = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--untracked-files=all',
  '--no-renames',
  '--ignore-submodules=all',
]

/** Whoever else owns a repository may have made it for others to step into. */
async function trusted(runs: GitRuns, directory: string, user: GitUser): Promise<GitPlace | undefined> {
  const place = await findPlace(directory)
  if (!place) return undefined
  const me = process.getuid?.()
  if (me === undefined || place.owners.every((owner) => owner === me)) return place
  const { safe } = await userConfig(runs, user)
  const isSafe = (path: string) =>
    path === '*' || path === place.root || (path.endsWith('/*') && place.root.startsWith(path.slice(0, -1)))
  // An empty one takes back those before it.
  return safe.slice(safe.lastIndexOf('') + 1).some(isSafe) ? place : undefined
}
