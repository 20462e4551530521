import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync } from 'node:fs'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ChangeRecorder, everything } from '../../host/src/ports/contracts/watch.contract.ts'
import type { WatchFixture } from '../../host/src/ports/contracts/watch.contract.ts'
import { watchTree } from '../src/files/watch/watch.ts'
import type { WatchOptions, WatchTiming } from '../src/files/watch/options.ts'

/**
 * Creates a temporary directory that is removed after the test. The directory is in memory where possible, because many files
 * are slow on a busy disk.
 */
export async function newDirectory(options: Partial<WatchOptions> = {}): Promise<WatchFixture> {
  const path = realpathSync(mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'atrium-watch-')))
  // The timeout is long, because removing many files takes long on a busy machine.
  onTestFinished(() => rmSync(path, { recursive: true, force: true }), 60_000)
  const at = (name: string) => join(path, name)
  return {
    path,
    write: (name, text) => writeFile(at(name), text),
    make: async (name) => void (await mkdir(at(name), { recursive: true })),
    move: (from, to) => rename(at(from), at(to)),
    remove: (name) => rm(at(name), { recursive: true }),
    atOnce: (...changes) => {
      for (const change of changes)
        if ('write' in change) writeFileSync(at(change.write), change.text)
        else if ('move' in change) renameSync(at(change.move), at(change.to))
        else rmSync(at(change.remove), { recursive: true })
    },
    link: (name, target) => symlink(target, at(name)),
    list: () => listBelow(path),
    watch: (name, request, listener) => watchTree(name === '' ? path : at(name), request, listener, options),
  }
}

/** Creates a temporary directory with a watch and a listener. `prepare` fills the directory before the watch begins. */
export async function watching(
  options: Partial<WatchOptions> = {},
  prepare: (path: string) => void = () => {},
) {
  const directory = await newDirectory(options)
  prepare(directory.path)
  const listener = new ChangeRecorder(await directory.list())
  const watch = await directory.watch('', everything, listener.listener)
  onTestFinished(() => watch.end())
  return { ...directory, listener, watch, at: (name: string) => join(directory.path, name) }
}

const memory = '/dev/shm'

/** Short intervals, for tests of polling. */
export const fastTiming: WatchTiming = { windowMs: 10, pollMs: 20, absentMs: 20 }

/** Returns all paths below a directory, relative to it. Symbolic links are not followed. */
export async function listBelow(path: string): Promise<Set<string>> {
  const found = new Set<string>()
  const walk = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(path, below), { withFileTypes: true })) {
      const name = below === '' ? entry.name : `${below}/${entry.name}`
      found.add(name)
      if (entry.isDirectory()) await walk(name)
    }
  }
  await walk('')
  return found
}

/** Returns the number of inotify watches of this process. */
export function inotifyWatches(): number {
  return readdirSync('/proc/self/fdinfo')
    .map((fd) => {
      try {
        return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').split('inotify wd:').length - 1
      } catch {
        return 0
      }
    })
    .reduce((sum, count) => sum + count, 0)
}
