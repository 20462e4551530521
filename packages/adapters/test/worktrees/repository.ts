import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Worktrees } from '@atrium/host/ports/worktrees'
import { gitWorktrees } from '../../src/worktrees/worktrees.ts'
import type { WorktreeOptions } from '../../src/worktrees/worktrees.ts'
import { TestRepository, newFolder } from '../repository.ts'

/** A repository with worktrees, and git without any protection in all of its checkouts. */
export class WorktreeRepository extends TestRepository {
  /** The data folder of the worktrees. */
  readonly folder = newFolder()
  readonly worktrees: Worktrees = this.open()

  /** Opens the same worktrees once more, as the next start of a host does. */
  open(limits: WorktreeOptions['limits'] = {}): Worktrees {
    return gitWorktrees({ folder: this.folder, user: this.user, limits })
  }

  gitIn(root: string, ...args: readonly string[]): string {
    const env = { PATH: process.env['PATH'], HOME: this.user.home }
    return execFileSync('git', args, { cwd: root, env, encoding: 'utf8', stdio: 'pipe' }).trim()
  }
}

/** A repository with one commit, and a worktree of it. */
export async function begun(prepare: (repository: WorktreeRepository) => void = () => {}) {
  const repository = new WorktreeRepository()
  repository.put('a', '1\n')
  prepare(repository)
  await repository.commit()
  const { worktrees, root } = repository
  const worktree = await worktrees.create({ id: 'one', directory: root }, new AbortController().signal)
  const inTree = (...args: readonly string[]) => repository.gitIn(worktree.path, ...args)
  const write = (path: string, text: string) => writeFileSync(join(worktree.path, path), text)
  return { repository, worktrees, root, worktree, tree: worktree.path, inTree, write }
}
