import { fact } from '../table.ts'
import { measureWatch } from './watch.ts'
import type { WatchFigures } from './watch.ts'

const files = 50_000

/** Measures a watch of a large tree, relative to the recursive watch of Node. Each watch has its own process. */
export async function treeTable(): Promise<boolean> {
  console.log(
    `\ntree: a watch of ${files} files in ${files / 10} directories, compared with fs.watch recursive`,
  )
  const { ours, plain } = await measureWatch(files)
  const both = (figure: (figures: WatchFigures) => string) => `${figure(ours)}, plain ${figure(plain)}`
  const met = ours.rssMb <= 60
  fact(
    'time until it reports changes',
    both(({ readyMs }) => `${readyMs.toFixed(0)} ms`),
  )
  fact(
    'longest block of the event loop',
    both(({ blockedMs }) => `${blockedMs.toFixed(0)} ms`),
  )
  fact(
    `memory, goal at most 60 MB: ${met ? 'met' : 'MISSED'}`,
    both(({ rssMb }) => `${rssMb.toFixed(0)} MB`),
  )
  fact(
    'inotify watches',
    both(({ watches }) => String(watches)),
  )
  fact(
    'time to report a new file',
    both(({ eventMs }) => `${eventMs.toFixed(0)} ms`),
  )
  return met
}
