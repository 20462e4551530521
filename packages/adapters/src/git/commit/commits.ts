import { realpath } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { CommitFailed } from '@atrium/host/ports/commits'
import type { CommitRequest, Commit, Commits } from '@atrium/host/ports/commits'
import { limits as defaultLimits } from '@atrium/protocol/limits'
import type { LimitValues } from '@atrium/protocol/limits'
import { codeOf } from '../../process/error-code.ts'
import { findProgram } from '../../process/which.ts'
import type { GitUser } from '../config.ts'
import { ignoredAmong } from '../ignored.ts'
import { OddRepository } from '../odd-files.ts'
import type { GitProcesses } from '../processes.ts'
import type { Repository } from '../repository.ts'
import { GitRunner } from '../run.ts'
import { withShadowGitDir } from '../shadow-git-dir.ts'
import type { ShadowGitDir } from '../shadow-git-dir.ts'
import { currentUser, trustedRepository } from '../trusted.ts'
import { Checkout } from './checkout.ts'
import { IndexCopy, removeLeftovers } from './index-copy.ts'
import { commitSettings, noSettings, refuseBusy } from './settings.ts'
import { addFromDisk, commitTree, setBack, treeWith } from './trees.ts'

export interface CommitsOptions {
  /**
   * A folder for notes about temporary files in git directories. By these notes, `recover` finds the temporary files
   * that a killed host has left.
   */
  readonly folder: string
  /** The directories in which `git` is looked for, in the form of PATH. Default: the PATH of this process. */
  readonly path?: string
  readonly user?: GitUser
  readonly limits?: Pick<LimitValues, 'captureMs' | 'captureOutput' | 'vcsRuns'>
  readonly processes?: GitProcesses
}

interface Found {
  readonly git: GitRunner
  readonly repository: Repository
  readonly shadow: ShadowGitDir
  readonly prefix: string
}

/** A checkout, and the path of a folder in it, with a slash at its end. */
interface Place {
  readonly checkout: Checkout
  readonly prefix: string
}

/**
 * Stages and commits by the `git` command. No hook, no filter and no program of a config runs, as when a repository
 * is read (O14): git works on a shadow git directory, and on a copy of the index.
 */
export function gitCommits(options: CommitsOptions): Commits {
  const { folder, path = process.env['PATH'] ?? '', processes } = options
  const { user = currentUser(), limits = defaultLimits } = options
  const { captureMs: vcsMs, captureOutput: vcsBytes, vcsRuns } = limits
  let found: Promise<GitRunner | undefined> | undefined
  const findGit = () =>
    (found ??= findProgram('git', path).then((program) =>
      program === undefined
        ? undefined
        : new GitRunner(program, path, { vcsMs, vcsBytes, vcsRuns }, processes),
    ))

  const inRepository = async <T>(directory: string, task: (found: Found) => Promise<T>): Promise<T> => {
    const git = await findGit()
    const real = await realpath(directory).catch(() => undefined)
    const repository = git && real !== undefined && (await trustedRepository(git, real, user))
    if (!git || real === undefined || !repository) throw new CommitFailed(noRepository)
    const inside = relative(repository.root, real).split(sep).join('/')
    const within = async (shadow: ShadowGitDir) => {
      if (inside !== '' && (await ignoredAmong(shadow, [inside])).size > 0)
        throw new CommitFailed(noRepository)
      return task({ git, repository, shadow, prefix: inside === '' ? '' : `${inside}/` })
    }
    return withShadowGitDir(git, repository, user, within).catch(explained)
  }

  const at = <T>(directory: string, task: (place: Place) => Promise<T>): Promise<T> =>
    inRepository(directory, async ({ git, repository, shadow, prefix }) => {
      const settings = await commitSettings(git, repository, user)
      return task({ checkout: await Checkout.at(repository, settings, shadow), prefix })
    })

  /** Changes entries of the index by `edit`, in a copy that then replaces the index. */
  const change = (
    directory: string,
    paths: readonly string[],
    edit: (checkout: Checkout, paths: readonly string[], index: string) => Promise<void>,
  ): Promise<void> =>
    at(directory, async ({ checkout, prefix }) => {
      const named = pathsIn(prefix, paths)
      await refuseBusy(checkout.repository)
      await IndexCopy.with(folder, checkout.repository, async (copy) => {
        // This call throws if a path has a conflict, because a person must resolve it.
        await checkout.entries(named, copy.path)
        await edit(checkout, named, copy.path)
        await copy.install()
      })
    })

  return {
    staged: (directory) =>
      inRepository(directory, stagedIn).catch((error: unknown) => {
        if (error instanceof CommitFailed && error.message === noRepository) return []
        throw error
      }),
    stage: (directory, paths) => change(directory, paths, addFromDisk),
    unstage: (directory, paths) => change(directory, paths, setBack),
    commit: (directory, request) => at(directory, (place) => commit(folder, place, request)),
    recover: () => removeLeftovers(folder),
  }
}

/**
 * Returns the staged paths. Every changeset needs them and changesets are computed often, so this function saves
 * time: it does not read the settings of a commit.
 */
async function stagedIn({ repository, shadow, prefix }: Found): Promise<readonly string[]> {
  const checkout = new Checkout(repository, noSettings, shadow)
  const staged = await checkout.stagedSince((await checkout.head()) ?? (await checkout.emptyTree()))
  return staged.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length))
}

async function commit(folder: string, place: Place, request: CommitRequest): Promise<Commit> {
  const { checkout, prefix } = place
  const message = checkedMessage(request.message)
  const named = request.paths && pathsIn(prefix, request.paths)
  await refuseBusy(checkout.repository)
  if (checkout.settings.signed)
    throw new CommitFailed('Your git config asks for signed commits, which the host cannot make. Use git.')
  const { identity } = checkout.settings
  if (!identity)
    throw new CommitFailed('Git does not know who you are. Set user.name and user.email in your git config.')
  const ref = (await checkout.ask(['symbolic-ref', '-q', 'HEAD']))?.trim()
  if (!ref?.startsWith(branches))
    throw new CommitFailed('No branch is checked out. Check out a branch before you commit.')
  const head = await checkout.head()
  const base = head ?? (await checkout.emptyTree())
  return IndexCopy.with(folder, checkout.repository, async (copy) => {
    const staged = (await checkout.stagedSince(base)).filter((path) => path.startsWith(prefix))
    if (!named && staged.length === 0) throw new CommitFailed('There is nothing staged.')
    if (named) await addWhole(checkout, named, staged, copy)
    const paths = named ?? staged
    const tree = await treeWith(checkout, base, paths, named ? copy.path : undefined)
    const changed = await checkout.stagedSince(base, tree.index)
    if (changed.length === 0) throw new CommitFailed('There is nothing to commit in these files.')
    const id = await commitTree(checkout, tree.id, message, head)
    const putBack = named ? await copy.install() : undefined
    const moved = ['update-ref', '-m', `commit${head === undefined ? ' (initial)' : ''}: ${subject(message)}`]
    const old = head ?? '0'.repeat(id.length)
    if ((await checkout.ask([...moved, ref, id, old], { env: identity })) === undefined) {
      await putBack?.()
      throw new CommitFailed('The branch could not be moved to the commit. Nothing was committed.')
    }
    return {
      id,
      branch: ref.slice(branches.length),
      paths: changed.map((path) => path.slice(prefix.length)),
    }
  })
}

/**
 * Stages files as they are on the disk. A file that somebody has staged with another content is refused: that content
 * would be lost.
 */
async function addWhole(
  checkout: Checkout,
  paths: readonly string[],
  staged: readonly string[],
  copy: IndexCopy,
): Promise<void> {
  const both = paths.filter((path) => staged.includes(path))
  const before = await checkout.entries(both)
  await addFromDisk(checkout, paths, copy.path)
  const after = await checkout.entries(both, copy.path)
  const lost = both.find((path) => {
    const [a, b] = [before.get(path), after.get(path)]
    return a?.hash !== b?.hash || a?.mode !== b?.mode
  })
  if (lost !== undefined)
    throw new CommitFailed(
      `${lost} has staged changes that differ from the file. Commit what is staged, or stage it again.`,
    )
}

/**
 * Converts paths in a folder to paths from the root of the working tree. Throws for an invalid path, because git
 * itself would silently ignore some invalid paths.
 */
function pathsIn(prefix: string, paths: readonly string[]): readonly string[] {
  const isName = (name: string) => !['', '.', '..'].includes(name) && name.toLowerCase() !== '.git'
  const odd = paths.find((path) => path.includes('\0') || !path.split('/').every(isName))
  if (odd !== undefined)
    throw new CommitFailed(`${JSON.stringify(odd.slice(0, 200))} is no file of the folder.`)
  return paths.map((path) => prefix + path)
}

function checkedMessage(text: string): string {
  const message = text.trim()
  if (message === '') throw new CommitFailed('A commit needs a message.')
  if (message.includes('\0'))
    throw new CommitFailed('The message of a commit cannot contain a NUL character.')
  return `${message}\n`
}

/** Converts a refusal by the file system to a sentence for users. */
function explained(error: unknown): never {
  const code = codeOf(error) ?? ''
  if (['EACCES', 'EPERM', 'EROFS'].includes(code))
    throw new CommitFailed('The repository may not be written to. Nothing was changed.')
  if (code === 'ENOSPC' || code === 'EDQUOT') throw new CommitFailed('The disk is full. Nothing was changed.')
  throw error instanceof OddRepository ? new CommitFailed(error.message) : error
}

function subject(message: string): string {
  return message.slice(0, message.indexOf('\n')).slice(0, 200)
}

const branches = 'refs/heads/'
const noRepository = 'There is no repository in this folder.'
