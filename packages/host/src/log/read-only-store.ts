import type { Store } from '../ports/store.ts'

/**
 * A store whose disk is not to be touched: what a host writes on its own account stays in memory. What clients wish to
 * change has to be refused before it comes here.
 */
export function readOnly(store: Store): Store {
  const kept = new Map<string, string | undefined>()
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
      get: async (key) => (kept.has(key) ? kept.get(key) : store.records.get(key)),
      put: (key, text) => void kept.set(key, text),
      list: (prefix) => store.records.list(prefix),
      delete: (key) => void kept.set(key, undefined),
    },
  }
}
