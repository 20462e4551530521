import { statSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { CaptureFailed, CaptureRefused } from '@atrium/host/ports/captures'
import type { GitUser } from '../git/config.ts'
import { ignoredAmong } from '../git/ignored.ts'
import { refuseOddFiles, refuseOddRules } from '../git/odd-files.ts'
import { realPath, repositoryAbove } from '../git/repository.ts'
import type { Repository } from '../git/repository.ts'
import type { GitRunner } from '../git/run.ts'
import { withShadowGitDir } from '../git/shadow-git-dir.ts'
import { trusted } from '../git/trusted.ts'
import type { HashLength } from './index-file.ts'
import type { CaptureTools } from './tools.ts'

/** A folder that can be captured. */
export interface Place {
  /** The path of the folder, without symbolic links. */
  readonly directory: string
  /** The root of the working tree; the folder itself if there is no repository. */
  readonly root: string
  /** The path of the folder in the working tree, with a slash at its end; empty if the folder is the root. */
  readonly prefix: string
  readonly repository?: Repository
  readonly format: 'sha1' | 'sha256'
  readonly hashLength: HashLength
  /** Lines of a git config about the file system. */
  readonly settings: readonly string[]
  /** The settings of the repository that convert line ends; empty if there are none. */
  readonly autocrlf: string
  readonly eol: string
}

/**
 * Finds the repository of a folder, and its settings. Throws a `CaptureFailed` for a folder that is not captured,
 * such as the home folder (O18).
 */
export async function placeOf({ git, user, config: read }: CaptureTools, path: string): Promise<Place> {
  const directory = await realpath(path).catch(() => undefined)
  if (directory === undefined || !statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new CaptureFailed(`There is no folder ${path}.`)
  refuseWide(directory, user)
  const repository = await repositoryOf(git, directory, user)
  if (repository) refuseOddFiles(repository)
  else refuseOddRules(directory)
  if (!repository)
    return {
      directory,
      root: directory,
      prefix: '',
      format: 'sha1',
      hashLength: 20,
      settings: [],
      autocrlf: '',
      eol: '',
    }
  const config = await read(repository)
  const inside = relative(repository.root, directory).split(sep).join('/')
  const format = config.get('extensions.objectformat')?.at(-1) === 'sha256' ? 'sha256' : 'sha1'
  return {
    directory,
    root: repository.root,
    prefix: inside === '' ? '' : `${inside}/`,
    repository,
    format,
    hashLength: format === 'sha256' ? 32 : 20,
    autocrlf: config.get('core.autocrlf')?.at(-1) ?? '',
    eol: config.get('core.eol')?.at(-1) ?? '',
    settings: copiedSettings.flatMap((name) => {
      const value = config.get(`core.${name}`)?.at(-1)
      return value !== undefined && /^(?:true|false|minimal|default)$/.test(value)
        ? [`${name} = ${value}`]
        : []
    }),
  }
}

/**
 * Refuses the home folder, folders that contain it, and the root of the file system. A capture of the home folder would contain
 * the user's secrets. Like a capture of the whole disk, it would never end.
 */
function refuseWide(directory: string, { home }: GitUser): void {
  const real = home === '' ? undefined : realPath(home)
  if (directory === '/')
    throw new CaptureRefused('The files at the root of the file system are not recorded.')
  if (directory === real) throw new CaptureRefused('The files of the home folder are not recorded.')
  if (real?.startsWith(`${directory}${sep}`))
    throw new CaptureRefused('The files of a folder that contains the home folder are not recorded.')
}

/**
 * Returns the repository of a folder. Returns undefined if the repository ignores the folder, which is then captured
 * as one without a repository.
 */
async function repositoryOf(
  git: GitRunner,
  directory: string,
  user: GitUser,
): Promise<Repository | undefined> {
  const repository = await trusted(git, repositoryAbove(directory), user)
  if (!repository || repository.root === directory) return repository
  const path = relative(repository.root, directory).split(sep).join('/')
  const ignored = await withShadowGitDir(git, repository, user, (shadow) => ignoredAmong(shadow, [path]))
  return ignored.size > 0 ? undefined : repository
}

const copiedSettings = ['filemode', 'ignorecase', 'symlinks', 'precomposeunicode', 'trustctime', 'checkstat']
