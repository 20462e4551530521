import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, readUserConfig } from './config.ts'
import type { GitConfig, GitUser } from './config.ts'
import { refuseOddFiles } from './odd-files.ts'
import { readSmallFile } from './repository.ts'
import type { Repository } from './repository.ts'
import type { GitOutput, GitRunOptions, GitRunner } from './run.ts'

/** A temporary git directory with links to the commits, index and branches of a repository, and a config of its own. */
export interface ShadowGitDir {
  /** The repository's own config. It is only data: git does not act on it. */
  readonly config: GitConfig
  /** The path of the directory. */
  readonly dir: string
  /** Returns the output of a git command. Throws if the command fails. */
  run(args: readonly string[], stopWhen?: GitRunOptions['stopWhen']): Promise<Buffer>
  /** Returns the output and the exit code of a git command, even if the command fails. `env` has further variables. */
  tryRun(args: readonly string[], input: string, env?: GitRunOptions['env']): Promise<GitOutput>
}

/** Creates a shadow git directory for one task and removes it afterwards. Throws an `OddRepository` if git would wait there. */
export async function withShadowGitDir<T>(
  git: GitRunner,
  repository: Repository,
  user: GitUser,
  task: (shadow: ShadowGitDir) => Promise<T>,
): Promise<T> {
  refuseOddFiles(repository)
  const dir = await mkdtemp(join(tmpdir(), 'atrium-git-'))
  try {
    const [config, { excludesFile }] = await Promise.all([
      readConfig(git, repository),
      readUserConfig(git, user),
    ])
    await populate(dir, repository, config)
    const env = {
      HOME: dir,
      XDG_CONFIG_HOME: dir,
      GIT_DIR: dir,
      GIT_WORK_TREE: repository.root,
      GIT_INDEX_FILE: join(repository.gitDir, 'index'),
      GIT_OBJECT_DIRECTORY: join(repository.commonDir, 'objects'),
    }
    const run = (args: readonly string[], more: Partial<GitRunOptions>) =>
      git.run(['-c', `core.excludesFile=${excludesFile}`, ...args], { cwd: repository.root, env, ...more })
    return await task({
      config,
      dir,
      tryRun: (args, input, added) => run(args, { input, ...(added && { env: { ...env, ...added } }) }),
      async run(args, stopWhen) {
        const { stdout, exitCode } = await run(args, stopWhen ? { stopWhen } : {})
        const stopped = stopWhen && exitCode === null
        if (exitCode !== 0 && !stopped) throw new Error('git failed')
        return stdout
      },
    })
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function populate(dir: string, { gitDir, commonDir }: Repository, config: GitConfig): Promise<void> {
  const head = readSmallFile(join(gitDir, 'HEAD')) ?? ''
  await mkdir(join(dir, 'info'))
  await Promise.all([
    writeFile(join(dir, 'HEAD'), head),
    writeFile(join(dir, 'config'), shadowConfig(config, head)),
    ...['refs', 'reftable'].map((name) => symlink(join(commonDir, name), join(dir, name), 'junction')),
    ...['packed-refs', 'shallow', join('info', 'exclude'), join('info', 'attributes')].map((name) =>
      linkFile(join(commonDir, name), join(dir, name)),
    ),
  ])
}

/**
 * Links a file, or copies it if links are not allowed. A missing file is ignored: not every repository has all of these files.
 */
async function linkFile(from: string, to: string): Promise<void> {
  await symlink(from, to).catch(() => copyFile(from, to).catch(() => {}))
}

/**
 * Returns the config of a shadow git directory. From the config of the repository it takes only the upstream of the
 * current branch, and those settings about the storage of files that have a known, harmless value.
 */
function shadowConfig(config: GitConfig, head: string): string {
  const lines = ['[core]', 'bare = false']
  for (const [key, form] of copiedSettings) {
    const value = config.get(key)?.at(-1)
    const [section, name] = key.split('.')
    if (value !== undefined && form.test(value)) lines.push(`[${section}]`, `${name} = ${value}`)
  }
  return `${[...lines, ...upstreamOf(config, head)].join('\n')}\n`
}

const boolean = /^(true|false|yes|no|on|off|0|1)$/i
const copiedSettings: readonly (readonly [string, RegExp])[] = [
  ['core.repositoryformatversion', /^[01]$/],
  ['core.filemode', boolean],
  ['core.ignorecase', boolean],
  ['core.symlinks', boolean],
  ['core.precomposeunicode', boolean],
  ['core.trustctime', boolean],
  ['core.checkstat', /^(default|minimal)$/i],
  ['core.autocrlf', /^(true|false|input)$/i],
  ['core.eol', /^(lf|crlf|native)$/i],
  ['extensions.objectformat', /^(sha1|sha256)$/],
  ['extensions.refstorage', /^(files|reftable)$/],
]

/** Returns the settings of the current branch's upstream. */
function upstreamOf(config: GitConfig, head: string): readonly string[] {
  const [, branch] = /^ref: refs\/heads\/(.+?)\n?$/.exec(head) ?? []
  const remote = config.get(`branch.${branch}.remote`)?.at(-1)
  const merge = config.get(`branch.${branch}.merge`)?.at(-1)
  if (branch === undefined || remote === undefined || merge === undefined) return []
  const fetch = (config.get(`remote.${remote}.fetch`) ?? []).filter((spec) => safeRefspec.test(spec))
  return [
    `[branch ${quoted(branch)}]`,
    `remote = ${quoted(remote)}`,
    `merge = ${quoted(merge)}`,
    `[remote ${quoted(remote)}]`,
    ...fetch.map((spec) => `fetch = ${quoted(spec)}`),
  ]
}

const safeRefspec = /^\+?refs\/heads\/(\*|[\w./-]+):refs\/remotes\/[\w./-]+(\/\*)?$/

function quoted(text: string): string {
  return `"${text
    .replaceAll(/[\0-\x1f\x7f]/g, '')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')}"`
}
