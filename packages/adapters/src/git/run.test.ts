import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, relative } from 'node:path'
import { limits } from '@atrium/protocol/limits'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { TestRepository, hasGit, needsGit, newFolder, newUser } from '../../test/repository.ts'
import { findProgram } from '../process/which.ts'
import { GitRunner } from './run.ts'
import { gitVcs } from './git.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

/** A script named `git`. */
function fakeGit(script: string): {
  readonly folder: string
  readonly path: string
  readonly program: string
} {
  const folder = newFolder()
  const program = join(folder, 'git')
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return { folder, program, path: [folder, '/usr/bin', '/bin'].join(delimiter) }
}

/** A directory with the minimum that makes it a repository. */
function treeOf(): string {
  const root = newFolder()
  const repository = join(root, '.git')
  for (const name of ['objects', 'refs']) writeFileSync(join(mkdir(repository), name), '')
  writeFileSync(join(repository, 'HEAD'), 'ref: refs/heads/main\n')
  return root
}

describe('[O15] finding git', () => {
  test('without git there are no repositories', async () => {
    const root = treeOf()
    expect(await gitVcs({ path: '' }).root(root)).toBeUndefined()
    expect(await gitVcs({ path: newFolder() }).root(root)).toBeUndefined()
    await expect(gitVcs({ path: '' }).status(root)).rejects.toThrow('no repository')
  })

  test('[S-40] git is found in PATH, and never relative to the current directory', async () => {
    const { folder, program } = fakeGit('exit 0')
    expect(await findProgram('git', folder)).toBe(program)
    expect(await findProgram('git', `/no/such${delimiter}${folder}`)).toBe(program)
    const here = relative(process.cwd(), folder)
    for (const path of [here, `.${delimiter}${here}`, '', delimiter])
      expect(await findProgram('git', path)).toBeUndefined()
    writeFileSync(join(newFolder(), 'git'), 'not a program', { mode: 0o644 })
    expect(await findProgram('git', dirname(mkdir(join(newFolder(), 'git'))))).toBeUndefined()
  })

  test('[S-40] a program named git in the working tree is not run', async ({ skip }) => {
    skip(!hasGit, 'no git')
    const repository = new TestRepository()
    const marker = join(newFolder(), 'ran')
    for (const name of ['git', 'git-status', 'sh'])
      repository.put(name, `#!/bin/sh\ntouch '${marker}'\n`, 0o755)
    const path = ['.', '', process.env['PATH']].join(delimiter)
    const vcs = gitVcs({ path, user: newUser() })
    expect((await vcs.status(repository.root)).changes.length).toBe(3)
    expect(existsSync(marker)).toBe(false)
  })
})

test('[S-38] [S-41b] [O14.1] git gets exactly these arguments and variables', async () => {
  for (const name of [
    'GIT_DIR',
    'GIT_EXEC_PATH',
    'LD_PRELOAD',
    'NODE_OPTIONS',
    'ATRIUM_TOKEN',
    'GIT_EXTERNAL_DIFF',
  ])
    vi.stubEnv(name, '')
  vi.stubEnv('npm_config_x', 'secret')
  const logs = newFolder()
  // One file for each run, because runs are concurrent.
  const { path } = fakeGit(`{ env -0; printf 'args'; printf ' %s' "$@"; } >'${logs}'/$$`)
  const root = treeOf()
  const user = newUser()
  await gitVcs({ path, user }).status(root)
  const runs = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'))
  expect(runs.length).toBe(3)
  for (const run of runs) {
    const [args = '', ...variables] = run.split('\0').toReversed()
    const names = variables
      .map((variable) => variable.split('=')[0])
      .filter((name) => !shellVariables.includes(name ?? ''))
    const always = [
      'GIT_ALLOW_PROTOCOL',
      'GIT_ATTR_NOSYSTEM',
      'GIT_CONFIG_GLOBAL',
      'GIT_CONFIG_NOSYSTEM',
      'GIT_DIR',
      'GIT_NO_LAZY_FETCH',
      'GIT_OPTIONAL_LOCKS',
      'GIT_TERMINAL_PROMPT',
      'HOME',
      'LC_ALL',
      'PATH',
      'XDG_CONFIG_HOME',
    ]
    const ofTree = ['GIT_INDEX_FILE', 'GIT_OBJECT_DIRECTORY', 'GIT_WORK_TREE']
    const isStatus = args.includes(' status ')
    const isUser = args.includes('--get-regexp')
    expect(names.toSorted()).toEqual(
      [
        ...always.filter((name) => !isUser || name !== 'GIT_CONFIG_GLOBAL'),
        ...(isStatus ? ofTree : []),
      ].toSorted(),
    )
    expect(variables.includes(`HOME=${user.home}`)).toBe(isUser)
    expect(args.startsWith(`args ${hardened} `)).toBe(true)
  }
  const [status] = runs.filter((run) => run.includes(' status '))
  expect(
    status?.endsWith(
      ' status --porcelain=v2 -z --branch --untracked-files=all --no-renames --ignore-submodules=all',
    ),
  ).toBe(true)
})

/** Variables that a shell sets itself. */
const shellVariables: readonly string[] = ['PWD', 'OLDPWD', 'SHLVL', '_']

const hardened = [
  '--no-optional-locks --no-pager',
  '-c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.attributesFile=/dev/null -c core.untrackedCache=false',
  '-c core.pager=cat -c core.editor=true -c core.askPass=true -c core.sshCommand=false -c credential.helper=',
  '-c diff.external= -c gpg.program=false -c protocol.allow=never -c protocol.ext.allow=never',
  '-c safe.bareRepository=explicit -c submodule.recurse=false -c maintenance.auto=false',
].join(' ')

describe('limits', () => {
  const here = { cwd: '/', env: {} }

  test('[S-57 vcsMs] at 30,000: git may run', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { program, path, folder } = fakeGit(
      `echo begun; until [ -e ${'"$(dirname "$0")/go"'} ]; do sleep 0.01; done; echo done`,
    )
    const runs = new GitRunner(program, path, limits)
    const asked = startRun(runs)
    await asked.begun
    vi.advanceTimersByTime(29_999)
    writeFileSync(join(folder, 'go'), '')
    expect((await asked.ended).exitCode).toBe(0)
  })

  test('[S-57 vcsMs] past 30,000: git is killed, and the call fails', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { program, path } = fakeGit('echo begun; exec sleep 1000')
    const asked = startRun(new GitRunner(program, path, limits))
    await asked.begun
    vi.advanceTimersByTime(30_000)
    await expect(asked.ended).rejects.toThrow('too long')
  })

  const writing = (bytes: number) => {
    const { program, path } = fakeGit(`head -c ${bytes} /dev/zero`)
    return new GitRunner(program, path, limits).run([], here)
  }

  test('[S-57 vcsBytes] at 16,777,216: all output is returned', async () =>
    expect((await writing(16_777_216)).stdout.length).toBe(16_777_216))
  test('[S-57 vcsBytes] past 16,777,216: git is killed, and the call fails', async () =>
    expect(writing(16_777_217)).rejects.toThrow('too much'))

  /** Starts `count` runs; returns how many run at the same time, and how many end. */
  const together = async (count: number) => {
    const { program, path, folder } = fakeGit(
      `echo begun; until [ -e ${'"$(dirname "$0")/go"'} ]; do sleep 0.01; done`,
    )
    const runs = new GitRunner(program, path, limits)
    const asked = Array.from({ length: count }, () => startRun(runs))
    await Promise.all(asked.slice(0, 4).map(({ begun }) => begun))
    await new Promise(setImmediate)
    const begun = asked.filter(({ has }) => has()).length
    writeFileSync(join(folder, 'go'), '')
    const ended = await Promise.all(asked.map(async ({ ended }) => (await ended).exitCode))
    return [begun, ended.length]
  }

  test('[S-57 vcsRuns] at 4: all run', async () => expect(await together(4)).toEqual([4, 4]))
  test('[S-57 vcsRuns] past 4: the others wait', async () => expect(await together(9)).toEqual([4, 9]))

  function startRun(runs: GitRunner) {
    let hasBegun = false
    let ended: ReturnType<GitRunner['run']> | undefined
    const begun = new Promise<void>((resolve) => {
      const stopWhen = () => {
        hasBegun = true
        resolve()
        return false
      }
      ended = runs.run([], { ...here, stopWhen })
    })
    return { begun, ended: ended ?? Promise.reject(new Error('git was not started')), has: () => hasBegun }
  }
})

describe('paths that git cannot check', () => {
  needsGit()
  const asked = async (odd: number) => {
    const repository = new TestRepository()
    repository.put('.gitignore', 'junk\n')
    repository.put('away/x', '1')
    symlinkSync(repository.at('away'), repository.at('way'))
    const paths = Array.from({ length: odd }, (_, i) => [`way/${i}`, `${i}/junk`]).flat()
    return repository.vcs.ignored(repository.root, paths)
  }

  test('[S-57 vcsOddPaths] at 16: the other paths are checked', async () =>
    expect((await asked(16)).size).toBe(16))
  test('[S-57 vcsOddPaths] past 16: the call fails', async () => expect(asked(17)).rejects.toThrow('so many'))
})

function mkdir(path: string): string {
  mkdirSync(path, { recursive: true })
  return path
}
