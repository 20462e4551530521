import { list, text, yesNo } from './field.ts'
import type { Field } from './field.ts'

/** The settings of a host that keeps its sessions in a database, which it may share with other nodes. */
export interface ClusterSettings {
  /** The URL of the database that has the store. Absent: the store is in the data folder. */
  readonly store?: string
  /** Whether the node waits until it can take over. */
  readonly standby?: boolean
  /** The length of the lease in seconds. */
  readonly lease?: number
  /** The name of this machine. Sessions record it, because their folders are there. */
  readonly machine?: string
  /** Folders that are the same on every machine which names them. */
  readonly sharedFolder?: readonly string[]
}

/** The shortest and the longest lease, and the default, in seconds. */
export const leaseSeconds = { least: 4, most: 600, usual: 15 } as const

export const clusterFields: { readonly [K in keyof Required<ClusterSettings>]: Field } = {
  store: {
    ...text(
      {
        flag: '--store',
        variable: 'ATRIUM_STORE',
        about:
          'The database in which sessions are kept ([docs/cluster](cluster.md)). Default: the data folder.',
      },
      'a URL like postgres://user@host:5432/database',
    ),
    accepts: (value) => typeof value === 'string' && /^postgres(?:ql)?:\/\//.test(value),
  },
  standby: yesNo({
    flag: '--standby',
    variable: 'ATRIUM_STANDBY',
    about: 'With a database: wait until the owner has ended, and take over then.',
  }),
  lease: {
    ...text(
      {
        flag: '--lease',
        variable: 'ATRIUM_LEASE',
        about:
          'With a database: the seconds after which another node may take over from an owner that is gone. Default: 15.',
      },
      `a number of seconds from ${leaseSeconds.least} to ${leaseSeconds.most}`,
    ),
    accepts: (value) =>
      typeof value === 'number' && value >= leaseSeconds.least && value <= leaseSeconds.most,
    parse: (value) => (/^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value),
  },
  machine: {
    ...text(
      {
        flag: '--machine',
        variable: 'ATRIUM_MACHINE',
        about:
          'With a database: the name of this machine, on which the folders of new sessions are. Default: its first host name.',
      },
      "at most 100 letters, digits, '.', '-' and '_'",
    ),
    accepts: (value) => typeof value === 'string' && /^[\w.-]{1,100}$/.test(value),
  },
  sharedFolder: {
    ...list(
      {
        flag: '--shared-folder',
        variable: 'ATRIUM_SHARED_FOLDER',
        about: 'With a database: folders that are the same on all machines which name them. Default: none.',
      },
      'absolute paths',
    ),
    accepts: (value) => Array.isArray(value) && value.every((one) => /^\/[^\0]*$/.test(String(one))),
  },
}
