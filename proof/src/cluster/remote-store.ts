import type { Step } from '@atrium/host/ports/log'
import type { Store } from '@atrium/host/ports/store'
import { Deposed, StoreAway } from '@atrium/host/ports/lease'
import type { Batch, Database } from './database.ts'
import type { Network } from './network.ts'
import { Unknown } from './network.ts'

/** The attempts after which the store gives up. Each takes up to 4 s. */
const attempts = 8

/**
 * The store of an owner in the simulated database. Each flush is one batch, which is numbered. If the outcome of a commit is
 * unknown, the owner asks the database for the number of its last batch, and sends the batch again only if it is not there.
 */
export function remoteStore(database: Database, network: Network, epoch: number): Store {
  const { log, blobs } = database.store.share({})
  let steps: Step[] = []
  let changes = new Map<string, string | undefined>()
  /** The changes of records that were sent and are not known to be committed. */
  let sent = new Map<string, string | undefined>()
  let number = 0
  let closed = false

  const send = async (batch: Batch): Promise<void> => {
    for (let attempt = 0; ; attempt++) {
      if (closed) throw new Deposed('the store is closed')
      if (attempt === attempts) throw new StoreAway('the database is away')
      try {
        return await network.request(
          () => database.commit(batch),
          () => void database.open.add(batch),
        )
      } catch (error) {
        if (!(error instanceof Unknown)) throw error
        if (await isStored(batch)) return
      }
    }
  }

  /** Whether a batch with an unknown outcome was committed. A later commit of the same epoch would be refused as too old. */
  const isStored = async (batch: Batch): Promise<boolean> => {
    for (let attempt = 0; ; attempt++) {
      if (closed) throw new Deposed('the store is closed')
      if (attempt === attempts) throw new StoreAway('the database is away')
      try {
        return await network.request(async () => {
          // The connection has ended, so the server has ended the transaction.
          database.open.delete(batch)
          return database.lastBatch(epoch) >= batch.number
        })
      } catch (error) {
        if (!(error instanceof Unknown)) throw error
      }
    }
  }

  const pending = (key: string) => (changes.has(key) ? changes : sent.has(key) ? sent : undefined)

  return {
    log: {
      upTo: log.upTo,
      append: (step) => void steps.push(step),
      async flush() {
        const batch = { epoch, number: ++number, steps, records: changes }
        steps = []
        sent = changes
        changes = new Map()
        await send(batch)
        sent = new Map()
      },
      read: (...given) => log.read(...given),
      dispatchedBy: (...given) => log.dispatchedBy(...given),
      load: (...given) => log.load(...given),
      seal: async () => ({ envelopes: 0, more: false }),
      creation: (channel) => log.creation(channel),
      forget: async () => false,
      shrink: async () => false,
      rows: (...given) => log.rows(...given),
      close: async () => void (closed = true),
    },
    records: {
      get: async (key) => {
        const own = pending(key)
        return own ? own.get(key) : database.store.records.get(key)
      },
      put: (key, text) => void changes.set(key, text),
      delete: (key) => void changes.set(key, undefined),
      async list(prefix) {
        const found = new Map(await database.list(prefix))
        for (const [key, text] of [...sent, ...changes])
          if (key.startsWith(prefix)) {
            if (text === undefined) found.delete(key)
            else found.set(key, text)
          }
        return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1))
      },
    },
    blobs,
  }
}
