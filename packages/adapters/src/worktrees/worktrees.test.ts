import { existsSync, readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe } from 'vitest'
import { worktreesContract } from '../../../host/src/ports/contracts/worktrees.contract.ts'
import { needsGit } from '../../test/repository.ts'
import { WorktreeRepository } from '../../test/worktrees/repository.ts'

describe('worktrees of git', () => {
  needsGit()
  worktreesContract('git', async () => {
    const repository = new WorktreeRepository()
    return {
      worktrees: repository.worktrees,
      main: repository.root,
      async write(root, path, text) {
        mkdirSync(dirname(join(root, path)), { recursive: true })
        writeFileSync(join(root, path), text)
      },
      remove: async (root, path) => rmSync(join(root, path)),
      read: async (root, path) =>
        existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined,
      async commit(root) {
        repository.gitIn(root, 'add', '-A')
        repository.gitIn(root, 'commit', '-q', '-m', 'x')
        return repository.gitIn(root, 'rev-parse', 'HEAD')
      },
      head: async (root) => repository.gitIn(root, 'rev-parse', 'HEAD'),
    }
  })
})
