import { createHash } from 'node:crypto'

/**
 * Reads and writes blobs. Each blob has its own transaction, because it must be durable before an action that names it is
 * appended.
 * @param {import('./open.js').Database} db
 */
export function blobs(db) {
  const put = db.prepare(`INSERT OR IGNORE INTO blobs (session, hash, bytes) VALUES (?, ?, ?)`)
  const get = db.prepare(`SELECT bytes FROM blobs WHERE session = ? AND hash = ?`)
  const drop = db.prepare(`DELETE FROM blobs WHERE session = ?`)

  return {
    /**
     * @param {string} session
     * @param {Uint8Array} bytes
     */
    putBlob(session, bytes) {
      const hash = hashOf(bytes)
      put.run(session, hash, bytes)
      return hash
    },

    /**
     * @param {string} session
     * @param {string} hash
     */
    getBlob(session, hash) {
      const bytes = get.get(session, hash)?.bytes
      if (bytes && hashOf(bytes) !== hash) throw new Error(`the blob ${hash} of ${session} is damaged`)
      return bytes && Uint8Array.from(bytes)
    },

    /** @param {string} session */
    dropBlobs: (session) => void drop.run(session),
  }
}

/** @param {Uint8Array} bytes */
const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex')
