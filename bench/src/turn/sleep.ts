import type { Memory } from '../child.ts'
import { median } from '../percentiles.ts'
import { check, fact } from '../table.ts'
import { Wire } from '../wire.ts'
import { greet } from './chat.ts'
import { Folder, makeSession } from './history.ts'

const [few, many] = [10, 1000]
const turns = 3
/** So many are made at once. */
const makers = 20
const rounds = 5

/** Sessions on the disk cost their entry in the list, and nothing else. */
export async function sleepTable(): Promise<boolean> {
  console.log(`\nsleep: ${many} sessions of ${turns} turns on the disk, beside ${few}`)
  const folders = { few: await filled(few), many: await filled(many) }
  const found = { few: [] as Memory[], many: [] as Memory[] }
  for (let round = 0; round < rounds; round++)
    for (const which of ['few', 'many'] as const) found[which].push(await memoryOf(folders[which]))
  for (const folder of Object.values(folders)) folder.remove()
  const rss = compare(found, (memory) => memory.rss)
  const heap = compare(found, (memory) => memory.heap)
  fact('RSS for each sleeping session', kib(rss.each))
  return [
    check('heap for each sleeping session', `${kib(heap.each)}  goal at most 4 KiB`, heap.each <= 4096),
    check(
      `RSS with ${many}, beside ${few}`,
      `${rss.ratio.toFixed(2)}x  goal at most 1.15x`,
      rss.ratio <= 1.15,
    ),
  ].every(Boolean)
}

async function filled(count: number): Promise<Folder> {
  const folder = new Folder()
  const child = await folder.start()
  let next = 0
  const make = async () => {
    while (next < count) await makeSession(child, `ahp-session:/asleep-${next++}`, turns)
  }
  await Promise.all(Array.from({ length: makers }, make))
  await child.stop()
  return folder
}

/** Of a host that has said who is there to somebody, so that what it needs for that is loaded. */
async function memoryOf(folder: Folder): Promise<Memory> {
  const child = await folder.start()
  const wire = await greet(await Wire.open(child.port), 'looker')
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
