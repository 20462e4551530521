import { test } from 'vitest'
import { vcsContract } from '../../../host/src/ports/contracts/vcs.contract.ts'
import { TestRepository, hasGit, newFolder } from '../../test/repository.ts'
import { gitVcs } from './git.ts'

if (hasGit)
  vcsContract(
    'git',
    async () => new TestRepository(),
    async () => ({ path: newFolder(), vcs: gitVcs() }),
  )
else test('[O10] skipped: no git', ({ skip }) => skip('no git'))
