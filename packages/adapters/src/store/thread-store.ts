import type { Uri } from '@atrium/protocol/channel'
import type { DamagedChannel, LoadedChannel, Slice, Step, StoredEnvelope } from '@atrium/host/ports/log'
import { DiskFull } from '@atrium/host/ports/log'
import type { Store } from '@atrium/host/ports/store'
import type { Batch, Columns, PackedChannel, RecordChunk, StoreApi } from './worker-api.ts'
import type { StoreWorker } from './worker-client.ts'
import { byCodeUnit, refuseNul, refuseNulIn } from './text.ts'

/** An open store of a worker thread. */
export interface ThreadStore {
  readonly worker: Pick<StoreWorker<StoreApi>, 'request' | 'close'>
  readonly upTo: number
  readonly lost?: number | undefined
  /** The name of the store in errors. */
  readonly place: string
  readonly readOnly: boolean
  /** How many times `aheadLength` may wait for a flush (`LogStore`). */
  readonly ahead?: number | undefined
  /** Returns the maximum number of pages of the file (`SqliteOptions`). */
  readonly maxPages?: (() => number) | undefined
}

/** A step that can still grow, because the steps of one flush are merged. */
type MutableStep = { -readonly [K in keyof Step]: Step[K] extends readonly (infer T)[] ? T[] : Step[K] }

/** The content of the next flush, which writes all of it in one transaction. */
interface Queue extends Batch {
  readonly steps: MutableStep[]
  readonly records: Map<string, string | undefined>
}

/**
 * Returns the store of a worker thread. The main thread queues steps and records, and sends one batch per flush, which the
 * worker writes in one transaction.
 */
export function threadStore(opened: ThreadStore): Store {
  const { worker, upTo, lost, place, readOnly, ahead, maxPages } = opened
  let queued = emptyQueue()
  let inFlight = emptyQueue()
  /** The flush that was requested and has not started. Further requests share this flush until it starts. */
  let waiting: Promise<void> | undefined
  let last = Promise.resolve()
  /** The last request to compress older envelopes (to seal them). The next one waits until it is done. */
  let sealing: Promise<unknown> = Promise.resolve()
  let closing: Promise<void> | undefined
  let broken: unknown

  /**
   * Sends a request that writes. After a failure, except a full disk, the content of the disk is unknown, so nothing more is
   * written.
   */
  const change = async <K extends 'flush' | 'seal' | 'forget' | 'shrink' | 'putBlob' | 'dropBlobs'>(
    name: K,
    args: Parameters<StoreApi[K]>,
    transfer?: readonly ArrayBuffer[],
  ) => {
    if (broken) throw broken
    try {
      return await worker.request(name, args, transfer)
    } catch (error) {
      if (!(error instanceof DiskFull)) broken = error
      throw error
    }
  }

  const write = async () => {
    waiting = undefined
    if (broken) throw broken
    if (queued.steps.length + queued.records.size === 0) return
    inFlight = queued
    queued = emptyQueue()
    try {
      await change('flush', [inFlight, maxPages?.()])
    } catch (error) {
      queued = concatenated(inFlight, queued)
      throw error
    } finally {
      inFlight = emptyQueue()
    }
  }

  const mayWrite = () => {
    if (readOnly) throw new Error(`the store in ${place} is open for reading only`)
  }

  const record = (key: string, text?: string) => {
    mayWrite()
    refuseNul(key, text)
    queued.records.set(key, text)
  }

  return {
    log: {
      upTo,
      ...(lost !== undefined && { lost }),
      ...(ahead !== undefined && { ahead }),
      append(step) {
        mayWrite()
        refuseNulIn(step)
        appendTo(queued.steps, step)
      },
      flush() {
        if (closing) return Promise.reject(new Error('the store is closed'))
        waiting ??= last.then(write)
        last = waiting.catch(() => {})
        return waiting
      },
      read: async (channels, after, to) =>
        sliceOf(channels, await worker.request('read', [channels, after, to])),
      dispatchedBy: (clientId, after, most) => worker.request('dispatchedBy', [clientId, after, most]),
      load: async (channel, tail = Infinity) => channelOf(await worker.request('load', [channel, tail])),
      async seal(channel, upTo, least) {
        mayWrite()
        if (closing) throw new Error('the store is closed')
        const sealed = sealing.then(() => change('seal', [channel, upTo, least]))
        sealing = sealed.catch(() => {})
        return sealed
      },
      creation: (channel) => worker.request('creation', [channel]),
      async forget(checkpoint, keys) {
        mayWrite()
        refuseNul(checkpoint.channel, checkpoint.state)
        if (closing) throw new Error('the store is closed')
        return change('forget', [checkpoint, keys])
      },
      async shrink() {
        mayWrite()
        if (closing) throw new Error('the store is closed')
        return change('shrink', [])
      },
      rows: (channel, ids) => worker.request('rows', [channel, ids]),
      close() {
        closing ??= Promise.all([last, sealing]).then(() => worker.close())
        return closing
      },
    },
    records: {
      async get(key) {
        for (const { records } of [queued, inFlight]) if (records.has(key)) return records.get(key)
        return worker.request('record', [key])
      },
      put: record,
      async list(prefix) {
        // The worker answers requests in order. So the changes that are unflushed now are exactly those that the answer will
        // not contain.
        const unflushed = concatenated(inFlight, queued).records
        const stored = (await worker.request('records', [prefix])).flatMap(pairsOf)
        const changed = [...unflushed].filter(([key]) => key.startsWith(prefix))
        const all = changed.length === 0 ? stored : withChanges(stored, changed)
        // The result is sorted by UTF-16 code units. SQLite sorts by the bytes of UTF-8, which is another order for a
        // few characters.
        return all.toSorted(([a], [b]) => byCodeUnit(a, b))
      },
      delete: (key) => record(key),
      kinds: () => worker.request('kinds', []),
    },
    blobs: {
      async put(session, bytes) {
        mayWrite()
        refuseNul(session)
        const copy = Uint8Array.from(bytes)
        return change('putBlob', [session, copy], [copy.buffer])
      },
      get: (session, hash) => worker.request('getBlob', [session, hash]),
      async drop(session) {
        mayWrite()
        refuseNul(session)
        await change('dropBlobs', [session])
      },
    },
  }
}

type Pair = readonly [key: string, text: string]

function pairsOf(chunk: RecordChunk): readonly Pair[] {
  if (typeof chunk !== 'string') return chunk
  return chunk.split('\x1e').map((record) => {
    const at = record.indexOf('\x1f')
    return [record.slice(0, at), record.slice(at + 1)]
  })
}

function withChanges(
  stored: readonly Pair[],
  changed: readonly (readonly [key: string, text: string | undefined])[],
): readonly Pair[] {
  const all = new Map<string, string | undefined>([...stored, ...changed])
  return [...all].flatMap(([key, text]) => (text === undefined ? [] : [[key, text] as const]))
}

function sliceOf(
  requested: readonly Uri[],
  { seqs, places, actions, origins, more, forgotten }: Columns,
): Slice {
  const channels = [...new Set(requested)]
  const envelopes = seqs.map((seq, i): StoredEnvelope => {
    const envelope = { seq, channel: channels[places[i] ?? 0] ?? '', action: actions[i] ?? '' }
    const origin = origins[i]
    // The worker has verified the checksum. So the text is an origin that this store has written.
    return origin
      ? { ...envelope, origin: JSON.parse(origin) as Required<StoredEnvelope>['origin'] }
      : envelope
  })
  return forgotten ? { envelopes, more, forgotten } : { envelopes, more }
}

function channelOf(packed: PackedChannel): LoadedChannel | DamagedChannel | undefined {
  if (!packed || 'damaged' in packed) return packed
  return { ...packed, rowIds: packed.rowIds?.split('\x1e') ?? [] }
}

const emptyQueue = (): Queue => ({ steps: [], records: new Map() })

/**
 * Merges a step into the last step of a queue, because one large step is cheaper to copy to the worker than many small ones.
 */
function appendTo(steps: MutableStep[], { created, envelopes, rows, heads, dropped, upTo }: Step): void {
  let last = steps.at(-1)
  // Within a step, channels are dropped last. So nothing can be merged into a step that drops a channel.
  if (!last || last.dropped.length > 0) {
    last = { created: [], envelopes: [], rows: [], heads: [], dropped: [], upTo }
    steps.push(last)
  }
  for (const one of created) last.created.push(one)
  for (const one of envelopes) last.envelopes.push(one)
  for (const one of rows) last.rows.push(one)
  for (const one of heads) last.heads.push(one)
  for (const one of dropped) last.dropped.push(one)
  last.upTo = Math.max(last.upTo, upTo)
}

const concatenated = (first: Queue, second: Queue): Queue => ({
  steps: [...first.steps, ...second.steps],
  records: new Map([...first.records, ...second.records]),
})
