import * as v8 from 'node:v8'
import { isMainThread } from 'node:worker_threads'

// `node --import …/soak/probe.js` makes a host report its memory over its IPC channel. The product itself has no such
// interface. This module does nothing until a parent process asks.

/**
 * Figures that a process reports about itself; `heap` and `rss` are bytes. `links` and `channels` are numbers of
 * objects in memory, and undefined if the runtime cannot count objects.
 */
export interface ProcessStats {
  readonly heap: number
  readonly rss: number
  readonly handles: number
  readonly links: number | undefined
  readonly channels: number | undefined
}

if (isMainThread && process.send) {
  process.on(
    'message',
    (question) => question === 'stats' && void stats().then((found) => process.send?.(found)),
  )
  // When the parent process has gone, the measurement is over.
  process.on('disconnect', () => process.exit(1))
  process.channel?.unref()
}

async function stats(): Promise<ProcessStats> {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  // Timers are left out, because their number varies with the load. Sockets, files and servers stay if they leak.
  const handles = process
    .getActiveResourcesInfo()
    .filter((name) => !/Timeout|Immediate|TickObject/.test(name))
  // The host has already loaded these modules, so the imports give the same classes that the host uses.
  const { Connection } = await import('@atrium/host/connection')
  const { Channel } = await import('@atrium/host/log/channel')
  return { heap: heapUsed, rss, handles: handles.length, links: count(Connection), channels: count(Channel) }
}

function count(constructor: Function): number | undefined {
  return 'queryObjects' in v8 ? v8.queryObjects(constructor, { format: 'count' }) : undefined
}
