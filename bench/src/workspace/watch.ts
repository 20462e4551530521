import { fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What it takes to watch a tree. */
export interface WatchFigures {
  /** Until it tells of changes. */
  readonly readyMs: number
  /** The longest time meanwhile in which nothing else could run. */
  readonly blockedMs: number
  /** So much more memory than before. */
  readonly rssMb: number
  /** So many watches of the system; 0 where it does not say. */
  readonly watches: number
  /** From the moment that a file was made until that is told, in the middle of many. */
  readonly eventMs: number
}

export interface WatchJob {
  readonly path: string
  readonly by: 'ours' | 'plain'
}

/** A tree of so many files, ten in a directory, watched by us and by Node's own recursive watch, each in a process of its own. */
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
