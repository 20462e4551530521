import { DiskFull } from '@atrium/host/ports/log'
import type { Step } from '@atrium/host/ports/log'
import type { Store } from '@atrium/host/ports/store'
import { Disk } from './memory-disk.ts'
import { byCodeUnit, refuseNul, refuseNulIn } from './text.ts'

export interface MemoryOptions {
  /** Schedules the end of a flush. A simulation passes its own function, to decide what happens before the flush ends. */
  readonly soon?: (task: () => void) => void
  /** Called at every flush; `true` simulates a full disk. */
  readonly full?: () => boolean
  /** Called at the beginning of every write. Throws if this node may not write any more, and the write is refused. */
  readonly fence?: () => void
}

export interface MemoryStore extends Store {
  /** Closes the store and returns a new store with the flushed content, as after a restart. */
  readonly reopen: () => MemoryStore
  /** Returns the store as another node opens it: with the flushed content and options of its own. */
  readonly share: (options: MemoryOptions) => MemoryStore
}

export function memoryStore(options: MemoryOptions = {}): MemoryStore {
  return openDisk(new Disk(), options)
}

function openDisk(disk: Disk, options: MemoryOptions): MemoryStore {
  const { soon = queueMicrotask, full = () => false, fence = () => {} } = options
  const steps: Step[] = []
  const changes = new Map<string, string | undefined>()
  let broken: unknown
  let last = Promise.resolve()
  const close = () => {
    broken = new Error('the store is closed')
  }

  const writable = () => {
    if (broken) throw broken
    fence()
    if (full()) throw new DiskFull('no space left in memory')
  }

  /**
   * Makes everything durable that was queued when the flush started. If the store is reopened before this call, the queued
   * content is lost.
   */
  const commit = (count: number, changed: ReadonlyMap<string, string | undefined>) => {
    writable()
    try {
      disk.check(steps.slice(0, count))
    } catch (error) {
      broken = error
      throw error
    }
    for (const step of steps.splice(0, count)) disk.apply(step)
    for (const [key, text] of changed) {
      if (text === undefined) disk.records.delete(key)
      else disk.records.set(key, text)
      if (changes.get(key) === text) changes.delete(key)
    }
  }

  const get = (key: string) => (changes.has(key) ? changes.get(key) : disk.records.get(key))

  return {
    log: {
      upTo: disk.upTo,
      append(step) {
        refuseNulIn(step)
        steps.push(step)
      },
      flush() {
        if (broken) return Promise.reject(broken)
        const count = steps.length
        const changed = new Map(changes)
        const flushed = new Promise<void>((resolve, reject) => {
          soon(() => {
            try {
              commit(count, changed)
              resolve()
            } catch (error) {
              reject(error)
            }
          })
        })
        last = flushed.catch(() => {})
        return flushed
      },
      read: async (channels, after, upTo) => disk.read(channels, after, upTo),
      dispatchedBy: async (clientId, after, most) => disk.dispatchedBy(clientId, after).slice(-most),
      load: async (channel, tail) => disk.load(channel, tail),
      seal: async (channel, upTo, least) => {
        writable()
        return disk.seal(channel, upTo, least)
      },
      creation: async (channel) => disk.creation(channel),
      forget: async (checkpoint, keys) => {
        writable()
        return disk.forget(checkpoint, keys)
      },
      shrink: async () => false,
      rows: async (channel, ids) => disk.rows(channel, ids),
      close: () => last.then(close),
    },
    records: {
      get: async (key) => get(key),
      put(key, text) {
        refuseNul(key, text)
        changes.set(key, text)
      },
      async list(prefix) {
        const keys = new Set([...disk.records.keys(), ...changes.keys()])
        const found = [...keys].filter((key) => key.startsWith(prefix)).toSorted(byCodeUnit)
        return found.flatMap((key) => {
          const text = get(key)
          return text === undefined ? [] : [[key, text] as const]
        })
      },
      delete: (key) => void changes.set(key, undefined),
      kinds: async () => [...new Set([...disk.records.keys()].map(kindOf))],
    },
    blobs: {
      get: disk.blobs.get,
      async put(session, bytes) {
        fence()
        return disk.blobs.put(session, bytes)
      },
      async drop(session) {
        fence()
        return disk.blobs.drop(session)
      },
    },
    reopen() {
      close()
      return openDisk(disk, options)
    },
    share: (other) => openDisk(disk, other),
  }
}

/** The beginning of a key: up to the first slash, or the whole key. */
function kindOf(key: string): string {
  return key.slice(0, key.indexOf('/') + 1) || key
}
