import { fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The cost of watching a tree. */
export interface WatchFigures {
  /** Time from the start of the watch until it reports changes. */
  readonly readyMs: number
  /** The longest time that the event loop was blocked until the watch was ready. */
  readonly blockedMs: number
  /** Added memory. */
  readonly rssMb: number
  /** The number of inotify watches; 0 on systems without /proc. */
  readonly watches: number
  /** The median time from the creation of a file to its report by the watch. */
  readonly eventMs: number
}

export interface WatchJob {
  readonly path: string
  readonly by: 'ours' | 'plain'
}

/**
 * Creates a tree of `files` files, ten in each directory. Watches the tree with the adapter and with the recursive
 * watch of Node.
 */
export async function measureWatch(
  files = 50_000,
): Promise<{ readonly ours: WatchFigures; readonly plain: WatchFigures }> {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-watched-')))
  try {
    makeTree(path, files)
    return { ours: await watched({ path, by: 'ours' }), plain: await watched({ path, by: 'plain' }) }
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}

function makeTree(path: string, files: number): void {
  for (let i = 0; i < files / inEach; i++) {
    const folder = join(path, `part-${i % 20}`, `group-${(i >> 4) % 25}`, `folder-${i}`)
    mkdirSync(folder, { recursive: true })
    for (let j = 0; j < inEach; j++) closeSync(openSync(join(folder, `some-file-${j}.ts`), 'w'))
  }
}

async function watched(job: WatchJob): Promise<WatchFigures> {
  const file = fileURLToPath(new URL('./watch-child.js', import.meta.url))
  const child = fork(file, { execArgv: ['--expose-gc'] })
  child.send(job)
  const [figures] = (await once(child, 'message')) as [WatchFigures]
  child.disconnect()
  await once(child, 'exit')
  return figures
}

const inEach = 10
