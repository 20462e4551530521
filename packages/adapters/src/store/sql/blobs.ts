import { createHash } from 'node:crypto'
import type { Handlers } from '../../process/thread-request.ts'
import type { StoreApi } from '../worker-api.ts'
import type { SqlStore } from './dialect.ts'

/**
 * Reads and writes blobs. Each blob has its own transaction, because it must be durable before an action that names it is
 * appended.
 */
export function blobs(store: SqlStore): Pick<Handlers<StoreApi>, 'putBlob' | 'getBlob' | 'dropBlobs'> {
  const { dialect } = store
  const session = dialect.by('session')
  const put = dialect.insert('blobs', ['session', 'hash', 'bytes'], 'ON CONFLICT DO NOTHING')
  const get = dialect.statement<{ readonly bytes: Uint8Array }>(
    `SELECT bytes FROM blobs WHERE ${session} = ?1 AND hash = ?2`,
  )
  const drop = dialect.statement(`DELETE FROM blobs WHERE ${session} = ?1`)

  return {
    putBlob: (uri, bytes) =>
      store.write(function* () {
        const hash = hashOf(bytes)
        yield* put(uri, hash, bytes)
        return hash
      }),

    getBlob: (uri, hash) =>
      store.read(function* () {
        const [found] = yield* get(dialect.key(uri), hash)
        if (found && hashOf(found.bytes) !== hash) throw new Error(`the blob ${hash} of ${uri} is damaged`)
        return found && Uint8Array.from(found.bytes)
      }),

    dropBlobs: (uri) =>
      store.write(function* () {
        yield* drop(dialect.key(uri))
      }),
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
