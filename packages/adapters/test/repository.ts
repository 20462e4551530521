import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, onTestFinished } from 'vitest'
import type { Checkout } from '../../host/src/ports/contracts/vcs.contract.ts'
import { gitVcs } from '../src/git/git.ts'

export const hasGit = (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(join(folder, 'git')))

/** Skips the tests of the file, or of the `describe` it is called in, if there is no git. */
export function needsGit(): void {
  beforeEach(({ skip }) => skip(!hasGit, 'no git'))
}

/** Creates a temporary folder that is removed after the test. */
export function newFolder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-vcs-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Creates a home directory, so that the git config of the user who runs the tests has no effect. */
export function newUser(config = '') {
  const home = newFolder()
  writeFileSync(join(home, '.gitconfig'), config)
  return { home, configHome: join(home, '.config') }
}

/** A repository, and git without any protection: git obeys the config and the hooks of the repository. */
export class TestRepository implements Checkout {
  readonly root: string
  readonly user = newUser()
  readonly vcs = gitVcs({ user: this.user })

  constructor(root = join(newFolder(), 'tree')) {
    this.root = root
    mkdirSync(root, { recursive: true })
    this.git('init', '-q', '-b', 'main')
    this.git('config', 'user.name', 'Ann')
    this.git('config', 'user.email', 'ann@example.org')
  }

  git(...args: readonly string[]): string {
    const env = { PATH: process.env['PATH'], HOME: this.user.home }
    return execFileSync('git', args, {
      cwd: this.root,
      env,
      encoding: 'utf8',
      stdio: 'pipe',
      timeout: 200_000,
    }).trim()
  }

  at(path: string): string {
    return join(this.root, path)
  }

  put(path: string, text: string, mode = 0o644): string {
    mkdirSync(dirname(this.at(path)), { recursive: true })
    writeFileSync(this.at(path), text, { mode })
    return this.at(path)
  }

  readonly write = async (path: string, text: string) => void this.put(path, text)
  readonly remove = async (path: string) => rmSync(this.at(path), { recursive: true })
  readonly ignore = async (name: string) => void this.put('.gitignore', `${name}\n`)
  readonly branch = async (name: string) => void this.git('symbolic-ref', 'HEAD', `refs/heads/${name}`)
  readonly remote = async (url: string) => void this.git('remote', 'add', `r${Math.random()}`, url)

  readonly commit = async () => {
    this.git('add', '-A')
    this.git('commit', '-q', '--allow-empty', '-m', 'x')
    return this.git('rev-parse', 'HEAD')
  }

  readonly follow = async (commit: string) => {
    this.git('remote', 'add', 'origin', 'https://example.org/x.git')
    this.git('update-ref', 'refs/remotes/origin/main', commit)
    this.git('branch', '-q', '--set-upstream-to', 'origin/main')
    return 'origin/main'
  }
}
