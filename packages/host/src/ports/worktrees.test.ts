import { FakeWorktrees } from '../../test/fakes/fake-worktrees.ts'
import { worktreesContract } from './contracts/worktrees.contract.ts'

/** The double that the tests of the host use passes the same suite as the adapter. */
worktreesContract('in memory', async () => {
  const worktrees = new FakeWorktrees()
  const main = '/main'
  worktrees.checkout(main)
  const files = (root: string) => worktrees.trees.get(root)?.files
  return {
    worktrees,
    main,
    write: async (root, path, text) => void files(root)?.set(path, text),
    remove: async (root, path) => void files(root)?.delete(path),
    read: async (root, path) => files(root)?.get(path),
    commit: async (root) => worktrees.commit(root).id,
    head: async (root) => worktrees.trees.get(root)?.head?.id ?? '',
  }
})
