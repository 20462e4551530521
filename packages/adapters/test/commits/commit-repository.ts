import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { gitCommits } from '../../src/git/commit/commits.ts'
import { TestRepository, newFolder } from '../repository.ts'

/** A repository with commits by the host. */
export class CommitRepository extends TestRepository {
  /** The folder for notes about copies of the index. */
  readonly data = join(newFolder(), 'commits')
  readonly commits = gitCommits({ folder: this.data, user: this.user })

  /** The exact content of a path in the last commit. */
  committed(path: string): string | undefined {
    try {
      return execFileSync('git', ['cat-file', 'blob', `HEAD:${path}`], {
        cwd: this.root,
        env: { PATH: process.env['PATH'], HOME: this.user.home },
        encoding: 'utf8',
        stdio: 'pipe',
      })
    } catch {
      return undefined
    }
  }

  /** What `git status` says, line by line. The output is trimmed, so the first line may lack a space at its beginning. */
  status(): readonly string[] {
    const text = this.git('status', '--porcelain', '--untracked-files=all')
    return text === '' ? [] : text.split('\n')
  }
}
