import type { Uri } from '@atrium/protocol/channel'
import type {
  DamagedChannel,
  LoadedChannel,
  RowSlice,
  Slice,
  Step,
  StoredEnvelope,
} from '@atrium/host/ports/log'
import { DiskFull } from '@atrium/host/ports/log'
import type { Store } from '@atrium/host/ports/store'
import { Link } from './worker-client.ts'
import { byCode, refuseNul, refuseNulIn } from '../text.ts'

export { StoreLocked, StoreUnreadable } from './worker-client.ts'

export interface SqliteOptions {
  /** Opens without writing: what would write throws. */
  readonly readOnly?: boolean
  /** The most pages the file may have, asked before each flush: beyond it the disk counts as full. */
  readonly maxPages?: () => number
  /** For tests: the steps from each version of the schema to the next. */
  readonly migrations?: readonly string[]
}

type Growing = { -readonly [K in keyof Step]: Step[K] extends readonly (infer T)[] ? T[] : Step[K] }

/** What the next flush makes durable, as one transaction; a record without text is deleted. */
interface Batch {
  readonly steps: Growing[]
  readonly records: Map<string, string | undefined>
}

/** A store in `<folder>/atrium.db`, written by a worker: one transaction a flush, and no second host beside it. */
export async function openSqlite(folder: string, options: SqliteOptions = {}): Promise<Store> {
  const { readOnly = false, maxPages, migrations } = options
  const link = new Link()
  const upTo = (await link.ask('open', [{ folder, readOnly, migrations }])) as number

  let queued = emptyBatch()
  let inFlight = emptyBatch()
  /** Asked for and not begun. All who ask before it begins share it. */
  let waiting: Promise<void> | undefined
  let last = Promise.resolve()
  let closing: Promise<void> | undefined
  let broken: Error | undefined

  /** After a failure that is not for lack of space nothing is written any more: who knows what is on disk. */
  const change = async (name: string, args: readonly unknown[], transfer?: readonly ArrayBuffer[]) => {
    if (broken) throw broken
    try {
      return await link.ask(name, args, transfer)
    } catch (error) {
      if (!(error instanceof DiskFull)) broken = error as Error
      throw error
    }
  }

  const write = async () => {
    waiting = undefined
    if (broken) throw broken
    if (queued.steps.length + queued.records.size === 0) return
    inFlight = queued
    queued = emptyBatch()
    try {
      await change('flush', [inFlight, maxPages?.()])
    } catch (error) {
      queued = joined(inFlight, queued)
      throw error
    } finally {
      inFlight = emptyBatch()
    }
  }

  const mayWrite = () => {
    if (readOnly) throw new Error(`the store in ${folder} is open for reading only`)
  }

  const record = (key: string, text?: string) => {
    mayWrite()
    refuseNul(key, text)
    queued.records.set(key, text)
  }

  return {
    log: {
      upTo,
      append(step) {
        mayWrite()
        refuseNulIn(step)
        add(queued.steps, step)
      },
      flush() {
        if (closing) return Promise.reject(new Error('the store is closed'))
        waiting ??= last.then(write)
        last = waiting.catch(() => {})
        return waiting
      },
      read: async (channels, after, to) =>
        sliceOf(channels, (await link.ask('read', [channels, after, to])) as Columns),
      dispatchedBy: async (clientId, after, most) =>
        (await link.ask('own', [clientId, after, most])) as StoredEnvelope[],
      load: async (channel, tail = Infinity) =>
        channelOf((await link.ask('load', [channel, tail])) as Packed),
      rows: async (channel, ids) => (await link.ask('rows', [channel, ids])) as RowSlice,
      close() {
        closing ??= last.then(() => link.close())
        return closing
      },
    },
    records: {
      async get(key) {
        for (const { records } of [queued, inFlight]) if (records.has(key)) return records.get(key)
        return (await link.ask('record', [key])) as string | undefined
      },
      put: record,
      async list(prefix) {
        // The worker answers in order, so this is exactly what lies over its answer, whatever is flushed meanwhile.
        const over = joined(inFlight, queued).records
        const found = (await link.ask('records', [prefix])) as [string, string][]
        const all = new Map<string, string | undefined>(found)
        for (const [key, text] of over) if (key.startsWith(prefix)) all.set(key, text)
        return [...all]
          .flatMap(([key, text]) => (text === undefined ? [] : [[key, text] as const]))
          .toSorted(([a], [b]) => byCode(a, b))
      },
      delete: (key) => record(key),
    },
    blobs: {
      async put(session, bytes) {
        mayWrite()
        refuseNul(session)
        const copy = Uint8Array.from(bytes)
        return (await change('putBlob', [session, copy], [copy.buffer])) as string
      },
      get: async (session, hash) => (await link.ask('getBlob', [session, hash])) as Uint8Array | undefined,
      async drop(session) {
        mayWrite()
        refuseNul(session)
        await change('dropBlobs', [session])
      },
    },
  }
}

/** As the worker hands it over; `places` are indices into the channels that were asked for. */
interface Columns {
  readonly seqs: readonly number[]
  readonly places: readonly number[]
  readonly actions: readonly string[]
  readonly origins: readonly (string | null)[]
  readonly more: boolean
}

function sliceOf(asked: readonly Uri[], { seqs, places, actions, origins, more }: Columns): Slice {
  const channels = [...new Set(asked)]
  const envelopes = seqs.map((seq, i): StoredEnvelope => {
    const fixed = { seq, channel: channels[places[i] ?? 0] ?? '', action: actions[i] ?? '' }
    const origin = origins[i]
    return origin ? { ...fixed, origin: JSON.parse(origin) as Required<StoredEnvelope>['origin'] } : fixed
  })
  return { envelopes, more }
}

/** As the worker hands it over: the ids are one text (null: none), which costs a thread less than many. */
type Packed =
  | (Omit<LoadedChannel, 'rowIds'> & { readonly rowIds: string | null })
  | DamagedChannel
  | undefined

function channelOf(packed: Packed): LoadedChannel | DamagedChannel | undefined {
  if (!packed || 'damaged' in packed) return packed
  return { ...packed, rowIds: packed.rowIds?.split('\x1e') ?? [] }
}

const emptyBatch = (): Batch => ({ steps: [], records: new Map() })

/** Steps of one transaction need no borders between them, and a message with less in it is sooner copied. */
function add(steps: Growing[], { created, envelopes, rows, heads, dropped, upTo }: Step): void {
  let last = steps.at(-1)
  // What comes after a drop must not be done before it.
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

const joined = (first: Batch, second: Batch): Batch => ({
  steps: [...first.steps, ...second.steps],
  records: new Map([...first.records, ...second.records]),
})
