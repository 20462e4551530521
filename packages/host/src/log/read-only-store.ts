import type { Store } from '../ports/store.ts'

/**
 * A store that leaves the disk as it is: the host's own writes stay in memory. Changes of clients must be refused before
 * they reach it.
 */
export function readOnly(store: Store): Store {
  const changes = new Map<string, string | undefined>()
  return {
    blobs: store.blobs,
    log: {
      upTo: store.log.upTo,
      append: () => {},
      flush: () => Promise.resolve(),
      read: (channels, after, upTo) => store.log.read(channels, after, upTo),
      dispatchedBy: (clientId, after, most) => store.log.dispatchedBy(clientId, after, most),
      load: (channel, tail) => store.log.load(channel, tail),
      rows: (channel, ids) => store.log.rows(channel, ids),
      close: () => store.log.close(),
    },
    records: {
      get: async (key) => (changes.has(key) ? changes.get(key) : store.records.get(key)),
      put: (key, text) => void changes.set(key, text),
      list: (prefix) => store.records.list(prefix),
      delete: (key) => void changes.set(key, undefined),
    },
  }
}
