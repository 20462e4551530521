import type { Store } from '../../ports/store.ts'

/**
 * Wraps a store so that nothing is written to the disk: the host's own writes stay in memory. Changes by clients must be
 * refused before they reach this store.
 */
export function readOnly(store: Store): Store {
  const changes = new Map<string, string | undefined>()
  return {
    blobs: store.blobs,
    log: {
      upTo: store.log.upTo,
      ...(store.log.lost !== undefined && { lost: store.log.lost }),
      append: () => {},
      flush: () => Promise.resolve(),
      read: (channels, after, upTo) => store.log.read(channels, after, upTo),
      dispatchedBy: (clientId, after, most) => store.log.dispatchedBy(clientId, after, most),
      load: (channel, tail) => store.log.load(channel, tail),
      seal: async () => ({ envelopes: 0, more: false }),
      creation: (channel) => store.log.creation(channel),
      forget: async () => false,
      shrink: async () => false,
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
