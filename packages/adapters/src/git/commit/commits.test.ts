import { test } from 'vitest'
import { commitsContract } from '../../../../host/src/ports/contracts/commits.contract.ts'
import { CommitRepository } from '../../../test/commits/commit-repository.ts'
import { hasGit, newFolder } from '../../../test/repository.ts'

if (hasGit)
  commitsContract('git', async () => {
    const repository = new CommitRepository()
    return {
      directory: repository.root,
      commits: repository.commits,
      elsewhere: newFolder(),
      write: repository.write,
      remove: repository.remove,
      committed: async (path) => repository.committed(path),
      message: async () => repository.git('log', '-1', '--format=%B'),
    }
  })
else test('[O41] skipped: no git', ({ skip }) => skip('no git'))
