import { join } from 'node:path'
import type { Repository } from './repository.ts'
import type { GitRunner } from './run.ts'

/** All values of each key, in the order of the file. Section and name of a key are lower case. */
export type GitConfig = ReadonlyMap<string, readonly string[]>

/** Reads a repository's config as data: git parses the file and acts on no setting of it. */
export async function readConfig(git: GitRunner, { commonDir }: Repository): Promise<GitConfig> {
  const { stdout } = await git.run(
    ['config', '--file', join(commonDir, 'config'), '--no-includes', '-z', '--list'],
    {
      cwd: '/',
      env: {},
    },
  )
  return parseConfig(stdout)
}

/** The user whose own git config is trusted. */
export interface GitUser {
  readonly home: string
  /** The value of XDG_CONFIG_HOME. */
  readonly configHome: string
}

/** Reads the two settings of the user's config that a shadow git directory needs. */
export async function readUserConfig(
  git: GitRunner,
  { home, configHome }: GitUser,
): Promise<{ readonly safeDirectories: readonly string[]; readonly excludesFile: string }> {
  const { stdout } = await git.run(
    ['config', '--includes', '-z', '--type=path', '--get-regexp', neededSettings],
    {
      cwd: '/',
      env: { HOME: home, XDG_CONFIG_HOME: configHome, GIT_CONFIG_GLOBAL: undefined },
    },
  )
  const config = parseConfig(stdout)
  return {
    safeDirectories: config.get('safe.directory') ?? [],
    excludesFile: config.get('core.excludesfile')?.at(-1) ?? join(configHome, 'git', 'ignore'),
  }
}

const neededSettings = '^(safe\\.directory|core\\.excludesfile)$'

/** Parses `git config -z` output. A key without a value is true. */
export function parseConfig(stdout: Buffer): GitConfig {
  const config = new Map<string, string[]>()
  for (const line of stdout.toString().split('\0')) {
    const at = line.indexOf('\n')
    const [key, value] = at < 0 ? [line, 'true'] : [line.slice(0, at), line.slice(at + 1)]
    if (key === '') continue
    const values = config.get(key)
    if (values) values.push(value)
    else config.set(key, [value])
  }
  return config
}
