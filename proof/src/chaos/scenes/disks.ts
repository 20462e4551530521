import { damagedFiles } from './files.ts'
import { damagedJournals } from './journals.ts'
import type { Scene } from './scene.ts'
import { fullDisk, readOnlyDisk, secondHost } from './disk-space.ts'

/** Tests a second host on one folder, disks that refuse writes, and disks that return wrong data. */
export const disks: Scene = async (context) => {
  await secondHost(context)
  await readOnlyDisk(context)
  await fullDisk(context)
  await damagedJournals(context)
  await damagedFiles(context)
}
