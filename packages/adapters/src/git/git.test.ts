import { test } from 'vitest'
import { vcsContract } from '../../../host/src/ports/vcs.contract.ts'
import { Repository, hasGit, newFolder } from '../../test/repository.ts'
import { gitVcs } from './git.ts'

if (hasGit)
  vcsContract(
    'git',
    async () => new Repository(),
    async () => ({ path: newFolder(), vcs: gitVcs() }),
  )
else test('[O10] skipped: no git', ({ skip }) => skip('no git'))
