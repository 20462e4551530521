import { damagedFiles } from './files.ts'
import { damagedJournals } from './journals.ts'
import type { Scene } from './scene.ts'
import { fullDisk, readOnlyDisk, secondHost } from './disk-space.ts'

/** Disks that return wrong data, and disks that refuse writes. */
export const disks: Scene = async (context) => {
  await secondHost(context)
  await readOnlyDisk(context)
  await fullDisk(context)
  await damagedJournals(context)
  await damagedFiles(context)
}
