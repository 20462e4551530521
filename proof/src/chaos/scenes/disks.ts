import { hurtFiles } from './files.ts'
import { hurtJournals } from './journals.ts'
import type { Scene } from './scene.ts'
import { fullDisk, sealedDisk, secondHost } from './space.ts'

/** Disks that lie, and disks that refuse. */
export const disks: Scene = async (stage) => {
  await secondHost(stage)
  await sealedDisk(stage)
  await fullDisk(stage)
  await hurtJournals(stage)
  await hurtFiles(stage)
}
