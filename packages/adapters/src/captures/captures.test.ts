import { test } from 'vitest'
import { applyContract } from '../../../host/src/ports/contracts/captures-apply.contract.ts'
import { capturesContract } from '../../../host/src/ports/contracts/captures.contract.ts'
import { DiskFolder, DiskRepository } from '../../test/captures/folder.ts'
import { hasGit } from '../../test/repository.ts'

if (hasGit) {
  capturesContract('git', async () => new DiskRepository())
  capturesContract('git without a repository', async () => new DiskFolder())
  applyContract('git', async () => new DiskRepository())
} else test('[O16] skipped: no git', ({ skip }) => skip('no git'))
