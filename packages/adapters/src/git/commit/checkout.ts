import { lstat, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { CommitFailed } from '@atrium/host/ports/commits'
import type { Repository } from '../repository.ts'
import type { GitRunOptions } from '../run.ts'
import type { ShadowGitDir } from '../shadow-git-dir.ts'
import type { CommitSettings } from './settings.ts'

/** A working tree in which files are staged and committed. Paths are relative to its root. */
export class Checkout {
  readonly repository: Repository
  readonly settings: CommitSettings
  readonly #shadow: ShadowGitDir

  constructor(repository: Repository, settings: CommitSettings, shadow: ShadowGitDir) {
    this.repository = repository
    this.settings = settings
    this.#shadow = shadow
  }

  /**
   * Returns a checkout for commands that write. Git works with a shadow git directory instead of the repository's
   * own. Commands that write append to the reflogs, so the shadow git directory gets links to them.
   */
  static async at(repository: Repository, settings: CommitSettings, shadow: ShadowGitDir): Promise<Checkout> {
    const { gitDir, commonDir } = repository
    const linked = async (from: string, to: string) => {
      if (await lstat(from).catch(() => undefined)) await symlink(from, join(shadow.dir, to))
    }
    await mkdir(join(shadow.dir, 'logs'))
    await Promise.all([
      linked(join(gitDir, 'logs', 'HEAD'), join('logs', 'HEAD')),
      linked(join(commonDir, 'logs', 'refs'), join('logs', 'refs')),
    ])
    return new Checkout(repository, settings, shadow)
  }

  /** Returns the path of a temporary file, in the shadow git directory. */
  temp(name: string): string {
    return join(this.#shadow.dir, name)
  }

  /** Returns the output of a git command; undefined if it fails. */
  async ask(args: readonly string[], options: AskOptions = {}): Promise<string | undefined> {
    const { input = '', index, env } = options
    const { stdout, exitCode } = await this.#shadow
      .tryRun([...this.settings.options, ...args], input, {
        GIT_LITERAL_PATHSPECS: '1',
        ...(index !== undefined && { GIT_INDEX_FILE: index }),
        ...env,
      })
      .catch(() => ({ stdout: Buffer.alloc(0), exitCode: -1 }))
    return exitCode === 0 ? stdout.toString('utf8') : undefined
  }

  /** Returns the output of a git command. If the command fails, throws a `CommitFailed` with the sentence `problem`. */
  async run(args: readonly string[], problem: string, options?: AskOptions): Promise<string> {
    const output = await this.ask(args, options)
    if (output === undefined) throw new CommitFailed(problem)
    return output
  }

  /** Returns the commit that is checked out; undefined before the first one. */
  async head(): Promise<string | undefined> {
    return (await this.ask(['rev-parse', '--verify', '-q', 'HEAD^{commit}']))?.trim()
  }

  /** Returns the object id of the tree without files. */
  async emptyTree(): Promise<string> {
    return (await this.run(['hash-object', '-t', 'tree', '--stdin'], unreadable)).trim()
  }

  /** Returns the paths that differ between a commit or tree and an index, sorted by name. */
  async stagedSince(base: string, index?: string): Promise<readonly string[]> {
    const args = ['diff-index', '--cached', '--no-renames', '--name-only', '-z', '--ita-invisible-in-index']
    const output = await this.run([...args, base, '--'], unreadable, index === undefined ? {} : { index })
    return namesIn(output)
  }

  /** Returns the entries of an index for these paths. Throws if one of the paths has a conflict. */
  async entries(paths: readonly string[], index?: string): Promise<ReadonlyMap<string, Entry>> {
    const found = new Map<string, Entry>()
    const wanted = new Set(paths)
    for (let at = 0; at < paths.length; at += pathsAtOnce) {
      const some = paths.slice(at, at + pathsAtOnce)
      const args = ['ls-files', '-z', '--stage', '--', ...some]
      const output = await this.run(args, unreadable, index === undefined ? {} : { index })
      for (const line of namesIn(output)) {
        const tab = line.indexOf('\t')
        const path = line.slice(tab + 1)
        const [mode = '', hash = '', stage = ''] = line.slice(0, tab).split(' ')
        if (!wanted.has(path)) continue
        if (stage !== '0') throw new CommitFailed(`There is a conflict in ${path}. Resolve it first.`)
        found.set(path, { mode, hash })
      }
    }
    return found
  }
}

export interface AskOptions {
  readonly input?: string
  /** The index that the command works on. Default: the one of the repository. */
  readonly index?: string
  readonly env?: GitRunOptions['env']
}

export interface Entry {
  readonly mode: string
  readonly hash: string
}

export function namesIn(output: string): readonly string[] {
  return output.split('\0').filter((name) => name !== '')
}

export const unreadable = 'The index of the repository cannot be read.'

/** The maximum number of paths in one git command, because the length of a command line is limited. */
const pathsAtOnce = 200
