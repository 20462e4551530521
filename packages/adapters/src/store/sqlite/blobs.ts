import { createHash } from 'node:crypto'
import type { Database } from '../database.ts'
import type { StoreApi } from '../worker-api.ts'

/**
 * Reads and writes blobs. Each blob has its own transaction, because it must be durable before an action that names it is
 * appended.
 */
export function blobs(db: Database): Pick<StoreApi, 'putBlob' | 'getBlob' | 'dropBlobs'> {
  const put = db.prepare(`INSERT OR IGNORE INTO blobs (session, hash, bytes) VALUES (?, ?, ?)`)
  const get = db.prepare<{ readonly bytes: Uint8Array }>(
    `SELECT bytes FROM blobs WHERE session = ? AND hash = ?`,
  )
  const drop = db.prepare(`DELETE FROM blobs WHERE session = ?`)

  return {
    putBlob(session, bytes) {
      const hash = hashOf(bytes)
      put.run(session, hash, bytes)
      return hash
    },

    getBlob(session, hash) {
      const bytes = get.get(session, hash)?.bytes
      if (bytes && hashOf(bytes) !== hash) throw new Error(`the blob ${hash} of ${session} is damaged`)
      return bytes && Uint8Array.from(bytes)
    },

    dropBlobs: (session) => void drop.run(session),
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
