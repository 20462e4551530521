import { join } from 'node:path'
import type { GitPlace } from './repository.ts'
import type { GitRuns } from './run.ts'

/** A key, with its section and name in small letters, and all its values. */
export type GitConfig = ReadonlyMap<string, readonly string[]>

/** What a repository's config says, taken as text: git only takes the file apart, and acts on nothing of it. */
export async function readConfig(runs: GitRuns, { common }: GitPlace): Promise<GitConfig> {
  const { said } = await runs.run(
    ['config', '--file', join(common, 'config'), '--no-includes', '-z', '--list'],
    {
      cwd: '/',
      env: {},
    },
  )
  return parsed(said)
}

/** Whose git it is: what they set for themselves is theirs, and no repository's. */
export interface GitUser {
  readonly home: string
  readonly settings: string
}

/** What of the user's own config a stand-in has to know: whom they trust, and what they ignore everywhere. */
export async function userConfig(
  runs: GitRuns,
  { home, settings }: GitUser,
): Promise<{ readonly safe: readonly string[]; readonly ignores: string }> {
  const { said } = await runs.run(['config', '--includes', '-z', '--type=path', '--get-regexp', wanted], {
    cwd: '/',
    env: { HOME: home, XDG_CONFIG_HOME: settings, GIT_CONFIG_GLOBAL: undefined },
  })
  const config = parsed(said)
  return {
    safe: config.get('safe.directory') ?? [],
    ignores: config.get('core.excludesfile')?.at(-1) ?? join(settings, 'git', 'ignore'),
  }
}

const wanted = '^(safe\\.directory|core\\.excludesfile)$'

function parsed(said: Buffer): GitConfig {
  const config = new Map<string, string[]>()
  for (const line of said.toString().split('\0')) {
    const at = line.indexOf('\n')
    const [key, value] = at < 0 ? [line, 'true'] : [line.slice(0, at), line.slice(at + 1)]
    if (key === '') continue
    const values = config.get(key)
    if (values) values.push(value)
    else config.set(key, [value])
  }
  return config
}
