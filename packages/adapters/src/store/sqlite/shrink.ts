import { statSync, statfsSync } from 'node:fs'
import { freemem, totalmem } from 'node:os'
import type { Database } from '../database.ts'
import type { StoreApi } from '../worker-api.ts'
import { dropper } from '../sql/drop.ts'
import type { SqliteStore } from './store.ts'

/** The free pages that stay in the file. The next writes use them, and the file need not grow again. */
const KEPT = 256
/** The maximum number of pages that one call gives back. */
const SLICE = 64
/** The value of `auto_vacuum` that lets free pages be given back in slices. */
const INCREMENTAL = 2

/**
 * Deletes what dropped channels have left, and then gives free pages of the file back to the file system. A slice is one
 * short transaction.
 */
export function shrinker(db: Database, store: SqliteStore): Pick<StoreApi, 'shrink'> {
  const { deleteRest } = dropper(store.dialect)
  const free = () => pragma(db, 'freelist_count')
  return {
    /** Deletes or gives back one slice. Returns whether there may be more. */
    shrink() {
      if (store.write(deleteRest)) return true
      const spare = free() - KEPT
      if (spare <= 0 || pragma(db, 'auto_vacuum') !== INCREMENTAL) return false
      db.exec(`PRAGMA incremental_vacuum(${Math.min(spare, SLICE)})`)
      if (free() > KEPT) return true
      // The file itself shrinks when the journal is moved into it.
      db.exec('PRAGMA wal_checkpoint(PASSIVE)')
      return false
    },
  }
}

/** The free bytes on the disk and in memory. */
export interface Room {
  readonly disk: number
  readonly memory: number
}

/**
 * Rewrites a file that an earlier build has made, so that free pages can be given back in slices. The rewrite takes the size
 * of the file once more on the disk and once in memory, since temporary data must not get into other folders. Returns a
 * sentence for the user if there is not enough room for this.
 */
export function rewriteOnce(db: Database, path: string, room: Room = roomFor(path)): string | undefined {
  if (pragma(db, 'auto_vacuum') === INCREMENTAL) return undefined
  const { size } = statSync(path)
  const scarce = room.disk < 2 * size ? 'disk space' : room.memory < 2 * size ? 'memory' : undefined
  if (scarce !== undefined)
    return `${path} stays as large as it is when data is deleted, because rewriting it once needs more ${scarce}. The next start tries again.`
  db.exec(`PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)`)
  return undefined
}

function roomFor(path: string): Room {
  const { bavail, bsize } = statfsSync(path)
  // Some systems report little memory as free, because they use the rest for files and give it up on demand.
  return { disk: bavail * bsize, memory: Math.max(freemem(), totalmem() / 4) }
}

const pragma = (db: Database, name: string): number =>
  Number(Object.values(db.prepare<object>(`PRAGMA ${name}`).all()[0] ?? {})[0])
