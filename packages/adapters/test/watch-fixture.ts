import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Listener, everything } from '../../host/src/ports/watch.contract.ts'
import type { Yard } from '../../host/src/ports/watch.contract.ts'
import { watchTree } from '../src/files/watch/watch.ts'
import type { Pace, Terms } from '../src/files/watch/options.ts'

/** A directory of its own, gone after the test; in memory where that can be, for many files take long on a busy disk. */
export async function newYard(terms: Partial<Terms> = {}): Promise<Yard> {
  const path = realpathSync(mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'atrium-yard-')))
  // Many files take their time to go, on a busy machine.
  onTestFinished(() => rmSync(path, { recursive: true, force: true }), 60_000)
  const at = (name: string) => join(path, name)
  return {
    path,
    write: (name, text) => writeFile(at(name), text),
    make: async (name) => void (await mkdir(at(name), { recursive: true })),
    move: (from, to) => rename(at(from), at(to)),
    remove: (name) => rm(at(name), { recursive: true }),
    link: (name, target) => symlink(target, at(name)),
    list: () => listBelow(path),
    watch: (name, wish, tell) => watchTree(name === '' ? path : at(name), wish, tell, terms),
  }
}

/** A directory that is watched, and who listens. */
export async function watching(terms: Partial<Terms> = {}, prepare: (path: string) => void = () => {}) {
  const yard = await newYard(terms)
  prepare(yard.path)
  const listener = new Listener(await yard.list())
  const watch = await yard.watch('', everything, listener.tell)
  onTestFinished(() => watch.end())
  return { ...yard, listener, watch, at: (name: string) => join(yard.path, name) }
}

const memory = '/dev/shm'

/** For what is looked at from time to time. */
export const soon: Pace = { windowMs: 10, beatMs: 20, absentMs: 20 }

/** Everything below a directory, relative to it; links are not followed. */
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

/** So many watches of the system are held by this process. */
export function heldWatches(): number {
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
