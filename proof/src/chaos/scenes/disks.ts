import { hurtFiles } from './files.ts'
import { hurtJournals } from './journals.ts'
import type { Scene } from './scene.ts'

/** Disks that lie, and disks that refuse. */
export const disks: Scene = async (stage) => {
  await hurtJournals(stage)
  await hurtFiles(stage)
}
