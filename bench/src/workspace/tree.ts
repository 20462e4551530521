import { fact } from '../table.ts'
import { measureWatch } from './watch.ts'
import type { WatchFigures } from './watch.ts'

const files = 50_000

/** A watch of a large tree beside Node's own recursive one, each in a process of its own. */
export async function treeTable(): Promise<boolean> {
  console.log(`\ntree: a watch of ${files} files in ${files / 10} directories, beside fs.watch recursive`)
  const { ours, plain } = await measureWatch(files)
  const both = (figure: (figures: WatchFigures) => string) => `${figure(ours)}, plain ${figure(plain)}`
  const met = ours.rssMb <= 60
  fact(
    'until it tells of changes',
    both(({ readyMs }) => `${readyMs.toFixed(0)} ms`),
  )
  fact(
    'longest time in which nothing else ran',
    both(({ blockedMs }) => `${blockedMs.toFixed(0)} ms`),
  )
  fact(
    `memory, aim 60 MB: ${met ? 'met' : 'MISSED'}`,
    both(({ rssMb }) => `${rssMb.toFixed(0)} MB`),
  )
  fact(
    'watches of the system',
    both(({ watches }) => String(watches)),
  )
  fact(
    'a new file until that is told',
    both(({ eventMs }) => `${eventMs.toFixed(0)} ms`),
  )
  return met
}
