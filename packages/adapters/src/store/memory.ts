import { createHash } from 'node:crypto'
import type { Uri } from '@atrium/protocol/channel'
import { DiskFull } from '@atrium/host/ports/log'
import type {
  ChannelCreation,
  Head,
  LoadedChannel,
  RowSlice,
  Slice,
  Step,
  StoredEnvelope,
} from '@atrium/host/ports/log'
import type { Store } from '@atrium/host/ports/store'
import { byCodeUnit, refuseNul, refuseNulIn } from './text.ts'

export interface MemoryOptions {
  /** Schedules the end of a flush. A simulation passes its own function, to decide what happens before the flush ends. */
  readonly soon?: (task: () => void) => void
  /** Called at every flush; `true` simulates a full disk. */
  readonly full?: () => boolean
}

/** A store in memory. `reopen` closes the store and returns a new store with the flushed content, as after a restart. */
export interface MemoryStore extends Store {
  readonly reopen: () => MemoryStore
}

/** The maximum number of characters of one slice. */
const SLICE = 1024 * 1024

export function memoryStore(options: MemoryOptions = {}): MemoryStore {
  return openDisk(new Disk(), options)
}

function openDisk(disk: Disk, options: MemoryOptions): MemoryStore {
  const { soon = queueMicrotask, full = () => false } = options
  const steps: Step[] = []
  const changes = new Map<string, string | undefined>()
  let broken: unknown
  let last = Promise.resolve()
  const close = () => {
    broken = new Error('the store is closed')
  }

  /**
   * Makes everything durable that was queued when the flush started. If the store is reopened before this call, the queued
   * content is lost.
   */
  const commit = (count: number, changed: ReadonlyMap<string, string | undefined>) => {
    if (broken) throw broken
    if (full()) throw new DiskFull('no space left in memory')
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
    },
    blobs: disk.blobs,
    reopen() {
      close()
      return openDisk(disk, options)
    },
  }
}

interface StoredChannel {
  readonly creation: ChannelCreation
  readonly envelopes: StoredEnvelope[]
  readonly rows: Map<string, string>
  head?: Head
}

/** The durable content. It changes only by whole steps. */
class Disk {
  upTo = 0
  readonly records = new Map<string, string>()
  readonly blobs = memoryBlobs()
  private readonly channels = new Map<Uri, StoredChannel>()
  private readonly tombstones = new Map<Uri, number>()

  /** Throws if a step names a channel that does not exist. Must be called before any step of the flush is applied. */
  check(steps: readonly Step[]): void {
    const existing = new Set(this.channels.keys())
    for (const { created, envelopes, rows, heads, dropped } of steps) {
      for (const { channel } of created) {
        if (existing.has(channel)) throw new Error(`${channel} already exists`)
        existing.add(channel)
      }
      for (const { channel } of [...envelopes, ...rows, ...heads])
        if (!existing.has(channel)) throw new Error(`${channel} does not exist`)
      for (const { channel } of dropped) existing.delete(channel)
    }
  }

  apply(step: Step): void {
    for (const creation of step.created)
      this.channels.set(creation.channel, { creation, envelopes: [], rows: new Map() })
    for (const envelope of step.envelopes) this.channel(envelope.channel)?.envelopes.push(envelope)
    for (const { channel, id, text } of step.rows)
      if (text === undefined) this.channel(channel)?.rows.delete(id)
      else this.channel(channel)?.rows.set(id, text)
    for (const head of step.heads) Object.assign(this.channel(head.channel) ?? {}, { head })
    for (const { channel, seq } of step.dropped) {
      this.channels.delete(channel)
      this.tombstones.set(channel, seq)
    }
    this.upTo = Math.max(this.upTo, step.upTo)
  }

  load(channel: Uri, tail = Infinity): LoadedChannel | undefined {
    const stored = this.channel(channel)
    if (!stored) return undefined
    const { creation, head } = stored
    const { seq, state } = head ?? creation
    const envelopes = stored.envelopes.filter((envelope) => envelope.seq > seq)
    const all = head ? [...stored.rows] : []
    const rowIds = all.map(([id]) => id)
    const rows = all.slice(Math.max(0, all.length - tail)).map(([, text]) => text)
    return { kind: creation.kind, seq, state, rowIds, rows, fromCreation: !head, envelopes }
  }

  rows(channel: Uri, ids: readonly string[]): RowSlice {
    const rows = this.channel(channel)?.rows
    const found = ids.flatMap((id) => {
      const text = rows?.get(id)
      return text === undefined ? [] : [{ id, text }]
    })
    const end = sliceEnd(found.map(({ text }) => text))
    return { rows: found.slice(0, end), more: end < found.length }
  }

  read(channels: readonly Uri[], after: number, upTo: number): Slice {
    const found = [...new Set(channels)]
      .flatMap((channel) => this.channel(channel)?.envelopes ?? [])
      .filter(({ seq }) => seq > after && seq <= upTo)
      .toSorted((a, b) => a.seq - b.seq)
    const end = sliceEnd(found.map(({ action }) => action))
    return { envelopes: found.slice(0, end), more: end < found.length }
  }

  dispatchedBy(clientId: string, after: number): StoredEnvelope[] {
    return [...this.channels.values()]
      .flatMap(({ envelopes }) => envelopes)
      .filter(({ seq, origin }) => seq > after && origin?.clientId === clientId)
      .toSorted((a, b) => a.seq - b.seq)
  }

  private channel(uri: Uri): StoredChannel | undefined {
    return this.channels.get(uri)
  }
}

/** Returns how many of the texts fit into one slice. The number is at least one. */
function sliceEnd(texts: readonly string[]): number {
  let size = 0
  const end = texts.findIndex((text, i) => (size += text.length) > SLICE && i > 0)
  return end < 0 ? texts.length : end
}

function memoryBlobs(): Store['blobs'] {
  const sessions = new Map<Uri, Map<string, Uint8Array>>()
  return {
    async put(session, bytes) {
      const hash = createHash('sha256').update(bytes).digest('hex')
      const blobs = sessions.get(session) ?? new Map<string, Uint8Array>()
      sessions.set(session, blobs.set(hash, Uint8Array.from(bytes)))
      return hash
    },
    async get(session, hash) {
      const bytes = sessions.get(session)?.get(hash)
      return bytes && Uint8Array.from(bytes)
    },
    async drop(session) {
      sessions.delete(session)
    },
  }
}
