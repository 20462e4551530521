import { existsSync, readFileSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { watchTree } from '@atrium/adapters/files/watch'
import { median } from '../percentiles.ts'
import type { WatchFigures, WatchJob } from './watch.ts'

// The watch has its own process, so that all added memory belongs to the watch.
process.on('message', (job: WatchJob) => {
  void measured(job).then((figures) => process.send?.(figures))
})

/**
 * Starts a watch that calls `onChange` with the path of every change. When the watch is ready, resolves with the
 * function that ends it.
 */
type StartWatch = (path: string, onChange: (path: string) => void) => Promise<() => unknown>

const watches: { readonly [by in WatchJob['by']]: StartWatch } = {
  async ours(path, onChange) {
    const options = { recursive: true, wants: () => true, skips: () => false }
    const watching = await watchTree(path, options, (changes) => {
      for (const change of changes) onChange(change.path)
    })
    return () => watching.end()
  },
  async plain(path, onChange) {
    const watcher = watch(path, { recursive: true }, (_, name) => onChange(name ?? ''))
    return () => watcher.close()
  },
}

async function measured({ path, by }: WatchJob): Promise<WatchFigures> {
  let onChange: (path: string) => void = () => {}
  const before = memory()
  const loop = monitorEventLoopDelay({ resolution })
  loop.enable()
  await new Promise(setImmediate)
  const began = performance.now()
  const end = await watches[by](path, (name) => onChange(name))
  // fs.watch returns before its watch is ready. The watch counts as ready when it reports a change in the last
  // directory.
  const folder = lastFolder(path)
  const timeToReport = async (name: string): Promise<number> => {
    const at = performance.now()
    const reported = new Promise<void>((resolve) => (onChange = (path) => path === name && resolve()))
    writeFileSync(join(path, name), '1')
    await reported
    return performance.now() - at
  }
  const ready = performance.now() - began
  const first = await timeToReport(`${folder}/first`)
  const readyMs = by === 'plain' ? ready + first : ready
  await new Promise((resolve) => setTimeout(resolve, resolution * 2))
  loop.disable()
  const events: number[] = []
  for (let i = 0; i < 51; i++) events.push(await timeToReport(`${folder}/event-${i}`))
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
      // The list of descriptors also contains the one that `readdirSync` used to read it. That descriptor is closed
      // by now, so it has no file any more.
      return 0
    }
  })
  return held.reduce((sum, count) => sum + count, 0)
}

const resolution = 5
