import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, userConfig } from './config.ts'
import type { GitConfig, GitUser } from './config.ts'
import { smallText } from './repository.ts'
import type { GitPlace } from './repository.ts'
import type { GitRun, GitRuns, GitSaid } from './run.ts'

/** A git directory of our own that leads to the commits, the index and the branches of another. */
export interface StandIn {
  /** What the other's config says, as text. */
  readonly config: GitConfig
  /** What git says; a failure throws. */
  run(args: readonly string[], enough?: GitRun['enough']): Promise<Buffer>
  /** What it says, however it ends. */
  try(args: readonly string[], input: string): Promise<GitSaid>
}

/** Makes one for a question, and takes it away again. */
export async function withStandIn<T>(
  runs: GitRuns,
  place: GitPlace,
  user: GitUser,
  ask: (standIn: StandIn) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'atrium-git-'))
  try {
    const [config, { ignores }] = await Promise.all([readConfig(runs, place), userConfig(runs, user)])
    await furnish(dir, place, config)
    const env = {
      HOME: dir,
      XDG_CONFIG_HOME: dir,
      GIT_DIR: dir,
      GIT_WORK_TREE: place.root,
      GIT_INDEX_FILE: join(place.dir, 'index'),
      GIT_OBJECT_DIRECTORY: join(place.common, 'objects'),
    }
    const run = (args: readonly string[], more: Partial<GitRun>) =>
      runs.run(['-c', `core.excludesFile=${ignores}`, ...args], { cwd: place.root, env, ...more })
    return await ask({
      config,
      try: (args, input) => run(args, { input }),
      async run(args, enough) {
        const { said, code } = await run(args, enough ? { enough } : {})
        if (code !== 0 && !(enough && code === null)) throw new Error('git could not answer')
        return said
      },
    })
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function furnish(dir: string, place: GitPlace, config: GitConfig): Promise<void> {
  const head = (await smallText(join(place.dir, 'HEAD'))) ?? ''
  await mkdir(join(dir, 'info'))
  await Promise.all([
    writeFile(join(dir, 'HEAD'), head),
    writeFile(join(dir, 'config'), configOf(config, head)),
    ...['refs', 'reftable'].map((name) => symlink(join(place.common, name), join(dir, name), 'junction')),
    ...['packed-refs', 'shallow', join('info', 'exclude')].map((name) =>
      linkFile(join(place.common, name), join(dir, name)),
    ),
  ])
}

/** Where files cannot be linked they are copied; some are not there at all. */
async function linkFile(from: string, to: string): Promise<void> {
  await symlink(from, to).catch(() => copyFile(from, to).catch(() => {}))
}

/** Of a repository's own config only what says how its files are kept, each in a form that can mean nothing else. */
function configOf(config: GitConfig, head: string): string {
  const lines = ['[core]', 'bare = false']
  for (const [key, form] of forms) {
    const value = config.get(key)?.at(-1)
    const [section, name] = key.split('.')
    if (value !== undefined && form.test(value)) lines.push(`[${section}]`, `${name} = ${value}`)
  }
  return `${[...lines, ...upstreamOf(config, head)].join('\n')}\n`
}

const choice = /^(true|false|yes|no|on|off|0|1)$/i
const forms: readonly (readonly [string, RegExp])[] = [
  ['core.repositoryformatversion', /^[01]$/],
  ['core.filemode', choice],
  ['core.ignorecase', choice],
  ['core.symlinks', choice],
  ['core.precomposeunicode', choice],
  ['core.trustctime', choice],
  ['core.checkstat', /^(default|minimal)$/i],
  ['core.autocrlf', /^(true|false|input)$/i],
  ['core.eol', /^(lf|crlf|native)$/i],
  ['extensions.objectformat', /^(sha1|sha256)$/],
  ['extensions.refstorage', /^(files|reftable)$/],
]

/** Which branch the current one follows. */
function upstreamOf(config: GitConfig, head: string): readonly string[] {
  const [, branch] = /^ref: refs\/heads\/(.+?)\n?$/.exec(head) ?? []
  const remote = config.get(`branch.${branch}.remote`)?.at(-1)
  const merge = config.get(`branch.${branch}.merge`)?.at(-1)
  if (branch === undefined || remote === undefined || merge === undefined) return []
  const fetch = (config.get(`remote.${remote}.fetch`) ?? []).filter((spec) => plainSpec.test(spec))
  return [
    `[branch ${quoted(branch)}]`,
    `remote = ${quoted(remote)}`,
    `merge = ${quoted(merge)}`,
    `[remote ${quoted(remote)}]`,
    ...fetch.map((spec) => `fetch = ${quoted(spec)}`),
  ]
}

const plainSpec = /^\+?refs\/heads\/(\*|[\w./-]+):refs\/remotes\/[\w./-]+(\/\*)?$/

function quoted(text: string): string {
  return `"${text
    .replaceAll(/[\0-\x1f\x7f]/g, '')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')}"`
}
