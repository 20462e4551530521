import { PostgresServer } from '../../postgres/server.ts'
import { SmallDisk } from './small-disk.ts'

/** The disks of a server: one for its tables, and one for its write-ahead log. */
export interface Disks {
  readonly data: SmallDisk
  readonly wal: SmallDisk
}

/** The database of some nodes: a server with disks that can be made full. */
export class Database {
  readonly server: PostgresServer
  /** Undefined if no disk can be mounted here. */
  readonly disks: Disks | undefined

  private constructor(server: PostgresServer, disks: Disks | undefined) {
    this.server = server
    this.disks = disks
  }

  /** Makes a new server and starts it. Undefined if this machine has no PostgreSQL. */
  static async make(): Promise<Database | undefined> {
    const disks = mountDisks()
    const paths = disks && { data: disks.data.path, wal: disks.wal.path }
    const server = await PostgresServer.make({ small: true, settings: ['max_wal_size=8MB'], disks: paths })
    if (server) return new Database(server, disks)
    release(disks)
    return undefined
  }

  async close(): Promise<void> {
    await this.server.close()
    release(this.disks)
  }
}

const megabyte = 1024 * 1024

/** Undefined if this user may mount nothing. */
function mountDisks(): Disks | undefined {
  const data = SmallDisk.mount(160 * megabyte)
  const wal = SmallDisk.mount(64 * megabyte)
  if (data && wal) return { data, wal }
  data?.release()
  return undefined
}

function release(disks: Disks | undefined): void {
  disks?.data.release()
  disks?.wal.release()
}
