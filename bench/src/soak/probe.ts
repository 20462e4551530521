import * as v8 from 'node:v8'
import { isMainThread } from 'node:worker_threads'

// `node --import …/soak/probe.js`: a host that says over its IPC channel what is in its memory. The product has no such
// door; and where nobody asks it is as if this were not there.

/** What a process knows about itself. Counts of objects are absent where the runtime cannot tell. */
export interface Inside {
  readonly heap: number
  readonly rss: number
  readonly handles: number
  readonly links: number | undefined
  readonly channels: number | undefined
}

if (isMainThread && process.send) {
  process.on('message', (question) => question === 'inside' && void inside().then((it) => process.send?.(it)))
  // Whoever asks is gone: so is the reason to be here.
  process.on('disconnect', () => process.exit(1))
  process.channel?.unref()
}

async function inside(): Promise<Inside> {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  // What waits for a moment comes and goes with the load; sockets, files and servers are what leaks.
  const handles = process
    .getActiveResourcesInfo()
    .filter((name) => !/Timeout|Immediate|TickObject/.test(name))
  // Loaded already: the same modules that the host runs.
  const { Connection } = await import('@atrium/host/connection')
  const { Channel } = await import('@atrium/host/log/channel')
  return { heap: heapUsed, rss, handles: handles.length, links: count(Connection), channels: count(Channel) }
}

function count(constructor: Function): number | undefined {
  return 'queryObjects' in v8 ? v8.queryObjects(constructor, { format: 'count' }) : undefined
}
