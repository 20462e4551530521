import { existsSync, readFileSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { watchTree } from '@atrium/adapters/files/watch'
import { median } from '../percentiles.ts'
import type { WatchFigures, WatchJob } from './watch.ts'

// Watches a tree in a process of its own, so that all of its memory is the watcher's.
process.on('message', (job: WatchJob) => {
  void measured(job).then((figures) => process.send?.(figures))
})

/** Calls `heard` with the path of whatever changes, and resolves when it does; gives the way to end it. */
type Begin = (path: string, heard: (path: string) => void) => Promise<() => unknown>

const ways: { readonly [by in WatchJob['by']]: Begin } = {
  async ours(path, heard) {
    const wish = { recursive: true, wants: () => true, skips: () => false }
    const watching = await watchTree(path, wish, (changes) => {
      for (const change of changes) heard(change.path)
    })
    return () => watching.end()
  },
  async plain(path, heard) {
    const watcher = watch(path, { recursive: true }, (_, name) => heard(name ?? ''))
    return () => watcher.close()
  },
}

async function measured({ path, by }: WatchJob): Promise<WatchFigures> {
  let heard: (path: string) => void = () => {}
  const before = memory()
  const loop = monitorEventLoopDelay({ resolution })
  loop.enable()
  await new Promise(setImmediate)
  const began = performance.now()
  const end = await ways[by](path, (name) => heard(name))
  // One that is not ready when it says so is when it tells of something in the last of the directories.
  const folder = lastFolder(path)
  const told = async (name: string): Promise<number> => {
    const at = performance.now()
    const hears = new Promise<void>((resolve) => (heard = (path) => path === name && resolve()))
    writeFileSync(join(path, name), '1')
    await hears
    return performance.now() - at
  }
  const ready = performance.now() - began
  const first = await told(`${folder}/first`)
  const readyMs = by === 'plain' ? ready + first : ready
  await new Promise((resolve) => setTimeout(resolve, resolution * 2))
  loop.disable()
  const events: number[] = []
  for (let i = 0; i < 51; i++) events.push(await told(`${folder}/event-${i}`))
  const figures: WatchFigures = {
    readyMs,
    blockedMs: Math.max(0, loop.max / 1e6 - resolution),
    rssMb: (memory() - before) / 2 ** 20,
    watches: heldWatches(),
    eventMs: median(events),
  }
  await end()
  for (const name of ['first', ...events.map((_, i) => `event-${i}`)]) rmSync(join(path, folder, name))
  return figures
}

function lastFolder(path: string): string {
  const last = (below: string) => readdirSync(join(path, below)).toSorted().at(-1) ?? ''
  const part = last('')
  const group = `${part}/${last(part)}`
  return `${group}/${last(group)}`
}

function memory(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage.rss()
}

function heldWatches(): number {
  if (!existsSync('/proc/self/fdinfo')) return 0
  const held = readdirSync('/proc/self/fdinfo').map((fd) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').split('inotify wd:').length - 1
    } catch {
      // The one that was open for reading their list.
      return 0
    }
  })
  return held.reduce((sum, count) => sum + count, 0)
}

const resolution = 5
