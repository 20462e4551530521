import type { Memory } from '../child.ts'
import { median } from '../percentiles.ts'
import { check, fact } from '../table.ts'
import { Wire } from '../wire.ts'
import { initialize } from './chat.ts'
import { DataFolder, makeSession } from './data-folder.ts'

const [few, many] = [10, 1000]
const turns = 3
/** The number of sessions that are created concurrently. */
const makers = 20
const rounds = 5

/** Checks that a session which is not loaded costs little memory: only its entry in the session list. */
export async function sleepTable(): Promise<boolean> {
  console.log(`\nsleep: ${many} sessions of ${turns} turns on disk, relative to ${few}`)
  const folders = { few: await filled(few), many: await filled(many) }
  const found = { few: [] as Memory[], many: [] as Memory[] }
  for (let round = 0; round < rounds; round++)
    for (const which of ['few', 'many'] as const) found[which].push(await memoryOf(folders[which]))
  for (const folder of Object.values(folders)) folder.remove()
  const rss = compare(found, (memory) => memory.rss)
  const heap = compare(found, (memory) => memory.heap)
  fact('RSS per unloaded session', kib(rss.each))
  return [
    check('heap per unloaded session', `${kib(heap.each)}  goal at most 4 KiB`, heap.each <= 4096),
    check(
      `RSS with ${many}, relative to ${few}`,
      `${rss.ratio.toFixed(2)}x  goal at most 1.15x`,
      rss.ratio <= 1.15,
    ),
  ].every(Boolean)
}

async function filled(count: number): Promise<DataFolder> {
  const folder = new DataFolder()
  const child = await folder.start()
  let next = 0
  const make = async () => {
    while (next < count) await makeSession(child, `ahp-session:/unloaded-${next++}`, turns)
  }
  await Promise.all(Array.from({ length: makers }, make))
  await child.stop()
  return folder
}

/** The memory of a new host after one `listSessions`. The request makes the host load the code that lists sessions. */
async function memoryOf(folder: DataFolder): Promise<Memory> {
  const child = await folder.start()
  const wire = await initialize(await Wire.open(child.port), 'list-reader')
  await wire.ask('listSessions', { channel: 'ahp-root://', limit: few })
  await child.memory()
  const memory = await child.memory()
  wire.close()
  await child.stop()
  return memory
}

function compare(
  found: { few: readonly Memory[]; many: readonly Memory[] },
  figure: (memory: Memory) => number,
) {
  const [small, large] = [median(found.few.map(figure)), median(found.many.map(figure))]
  return { each: (large - small) / (many - few), ratio: large / small }
}

const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`
