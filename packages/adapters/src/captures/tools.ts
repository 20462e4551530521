import { statSync } from 'node:fs'
import { join } from 'node:path'
import { parseConfig, readConfig } from '../git/config.ts'
import type { GitConfig, GitUser } from '../git/config.ts'
import type { Repository } from '../git/repository.ts'
import type { GitRunner } from '../git/run.ts'

/** What all captures share. */
export interface CaptureTools {
  readonly git: GitRunner
  readonly user: GitUser
  /** The folder of all captures. */
  readonly folder: string
  /** Returns the settings of the user that say which files are ignored or converted. */
  settings(): Promise<UserSettings>
  /** Returns the config of a repository, as data. */
  config(repository: Repository): Promise<GitConfig>
}

export interface UserSettings {
  readonly excludesFile: string
  readonly attributesFile: string
  readonly autocrlf: string
  readonly eol: string
}

/**
 * Returns a function that reads settings of the user's config. A second call reads them again only if a config file
 * has changed.
 */
export function userSettings(git: GitRunner, { home, configHome }: GitUser): () => Promise<UserSettings> {
  const read = async (): Promise<UserSettings> => {
    const args = ['config', '--includes', '-z', '--type=path', '--get-regexp', names]
    const { stdout } = await git.run(args, {
      cwd: '/',
      env: { HOME: home, XDG_CONFIG_HOME: configHome, GIT_CONFIG_GLOBAL: undefined },
    })
    const config = parseConfig(stdout)
    return {
      excludesFile: last(config.get('core.excludesfile')) ?? join(configHome, 'git', 'ignore'),
      attributesFile: last(config.get('core.attributesfile')) ?? join(configHome, 'git', 'attributes'),
      autocrlf: config.get('core.autocrlf')?.at(-1) ?? '',
      eol: config.get('core.eol')?.at(-1) ?? '',
    }
  }
  const cached = new UntilChanged<UserSettings>()
  const files = [join(home, '.gitconfig'), join(configHome, 'git', 'config')]
  return () => cached.get(files, read)
}

/**
 * Returns a function that reads the config of a repository. A second call reads it again only if the file has
 * changed.
 */
export function repositoryConfig(git: GitRunner): (repository: Repository) => Promise<GitConfig> {
  const cached = new UntilChanged<GitConfig>()
  return (repository) => cached.get([join(repository.commonDir, 'config')], () => readConfig(git, repository))
}

/** A cache of values that were read from files. A value is valid until one of its files changes. */
class UntilChanged<T> {
  readonly #values = new Map<string, { readonly seen: string; readonly value: Promise<T> }>()

  async get(files: readonly string[], read: () => Promise<T>): Promise<T> {
    const seen = files.map(seenAt).join('|')
    const key = files.join('\0')
    const known = this.#values.get(key)
    if (known?.seen === seen) return known.value
    const value = read()
    this.#values.set(key, { seen, value })
    return value
  }
}

function seenAt(path: string): string {
  try {
    // Most users lack one of these files. An exception would take longer than all the rest.
    const info = statSync(path, { throwIfNoEntry: false })
    return info ? `${info.mtimeMs} ${info.size} ${info.ino}` : ''
  } catch {
    return ''
  }
}

/**
 * Returns the last value that the user has set. The value `/dev/null` is skipped, because it comes from the command
 * line of every git run.
 */
function last(values: readonly string[] = []): string | undefined {
  return values.findLast((value) => value !== '/dev/null')
}

const names = '^core\\.(excludesfile|attributesfile|autocrlf|eol)$'
