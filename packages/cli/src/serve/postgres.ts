import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Watchdog } from '@atrium/adapters/process/watchdog'
import type { PostgresPlace, PostgresStore } from '@atrium/adapters/store/postgres'
import type { Host } from '@atrium/host'
import type { OwnerTerm } from '@atrium/host/cluster'
import type { EffectTimer } from '@atrium/host/ports/effect-timer'
import type { SearchIndex } from '@atrium/host/ports/search-index'
import type { Store } from '@atrium/host/ports/store'
import type { World } from '@atrium/host/ports/world'
import type { ServedHost } from './cluster-host.ts'
import { endingOf, recordOwner } from './earlier-owner.ts'
import { leaseSeconds } from './cluster-fields.ts'
import { ReplicationReader } from './metrics/replication.ts'
import type { ClusterSettings } from './cluster-fields.ts'
import { CommandError, exits, sentenceOf, systemCode } from '../terminal/exit.ts'

/** The part of a lease after which the watchdog ends agents and shells. The rest is the time that it may take to do so. */
const effectShare = 0.75
/** A standby reads the store for the first time at once, and then at each look of this number. */
const looksPerRead = 400

/**
 * Reads the URL of a database and its password. The password leaves the environment, because agents and shells inherit the
 * environment of the host.
 */
export async function readPlace(url: string, environment: NodeJS.ProcessEnv): Promise<PostgresPlace> {
  // Loaded here, because most hosts have no database.
  const { postgresPlace } = await import('@atrium/adapters/store/postgres')
  try {
    return await postgresPlace(url, environment)
  } catch (error) {
    throw new CommandError(sentenceOf(error), exits.usage)
  } finally {
    delete environment['PGPASSWORD']
    delete environment['ATRIUM_POSTGRES_PASSWORD_FILE']
  }
}

/** The store in a database, and the search index beside it. */
export interface OpenedPostgres {
  readonly store: Store
  readonly search: SearchIndex
}

const load = async () => {
  const [{ openPostgres }, { postgresLease }, { postgresSearch }] = await Promise.all([
    import('@atrium/adapters/store/postgres'),
    import('@atrium/adapters/store/postgres/lease'),
    import('@atrium/adapters/search/postgres'),
  ])
  return { openPostgres, postgresLease, postgresSearch }
}

/** Opens the store in a database for reading. */
export async function readPostgres(place: PostgresPlace): Promise<OpenedPostgres> {
  const { openPostgres, postgresSearch } = await load()
  const store = await openPostgres(place)
  return { store, search: await postgresSearch(place) }
}

/** One of the nodes of a host: its machine, its watchdog with its marker, and the timer by which that ends what they have started. */
export interface NodeProcesses {
  readonly machine: string
  readonly processes: { readonly watchdog: Watchdog; readonly mark: string }
  readonly effects: EffectTimer
}

export async function nodeProcesses(settings: NodeSettings): Promise<NodeProcesses> {
  const mark = randomBytes(16).toString('hex')
  const watchdog = new Watchdog(mark)
  const effects = watchdog.effectTimer(leaseMs(settings) * effectShare)
  return { machine: await machineOf(settings), processes: { watchdog, mark }, effects }
}

type NodeSettings = ClusterSettings & { readonly data: string }

/**
 * The name of this machine: the given one, or the host name at the first start, which the data folder remembers. Host names
 * change, for example with the network, and the folders of sessions do not.
 */
async function machineOf({ machine, data }: NodeSettings): Promise<string> {
  if (machine !== undefined) return machine
  return (await remembered(data, 'machine', hostname())).trim()
}

const leaseMs = ({ lease = leaseSeconds.usual }: ClusterSettings) => lease * 1000

export interface PostgresNode {
  readonly settings: NodeSettings
  readonly place: PostgresPlace
  readonly world: World
  readonly node: NodeProcesses
  /** The address at which clients reach this node, if it is known before the node listens. */
  readonly url?: string | undefined
  /** Opens a host on a store, whose epoch is that of the term. */
  readonly open: (opened: OpenedPostgres, term: OwnerTerm) => Promise<Host>
  readonly changed: (role: string) => void
  /** Called if a host cannot be opened after the start. The node does nothing any more. */
  readonly failed: (error: unknown) => void
}

/** Returns the host of a node on a database: its owner, or a standby. */
export async function postgresNode(given: PostgresNode): Promise<ServedHost> {
  const { settings, world, node, url, open, changed, failed } = given
  const { openPostgres, postgresLease, postgresSearch } = await load()
  const ms = leaseMs(settings)
  const name = `${node.machine}:${process.pid}`
  const place = { ...given.place, node: name }
  const lease = await postgresLease(place, { node: name, ms, ...(url !== undefined && { url }) })
  try {
    await checkHost(settings.data, lease.host, place.name)
  } catch (error) {
    await lease.close()
    throw error
  }
  const reader = new WarmReader(() => openPostgres(place), world)
  const replication = new ReplicationReader(world)
  let replicas: () => ReturnType<PostgresStore['replicas']> = async () => undefined
  // Loaded here, because most hosts share their store with nobody.
  const { clusterHost } = await import('./cluster-host.ts')
  const served = await clusterHost({
    standby: settings.standby ?? false,
    place: place.name,
    lease,
    world,
    effects: node.effects,
    warm: () => reader.look(),
    endingOf: (state) => endingOf(settings.data, lease.host, state),
    changed(role) {
      if (role === 'opening') void reader.close()
      if (role === 'owner') replication.start(replicas)
      else replication.stop()
      changed(role)
    },
    failed,
    async open(term) {
      const { epoch } = term
      const { watchdog, mark } = node.processes
      const owner = { host: lease.host, epoch, node: name, mark, folder: watchdog.folder }
      await recordOwner(settings.data, owner).catch((error: unknown) =>
        world.report('owner not recorded', error),
      )
      // A stopped owner must not hold the fence for longer than its lease.
      const idle = ms / 2
      const store = await openPostgres(place, { epoch, idle, host: lease.host })
      const { addedIndexes } = store
      if (addedIndexes.length > 0)
        world.report(
          'indexes added by hand',
          `${addedIndexes.join(', ')}: each write has to update them, too`,
        )
      const rebuilt = (reason: string) => world.report('search index rebuilt', reason)
      let search: SearchIndex | undefined
      try {
        search = await postgresSearch(place, { epoch, idle, rebuilt })
        replicas = () => store.replicas()
        return await open({ store, search }, term)
      } catch (error) {
        await Promise.allSettled([search?.close(), store.log.close()])
        throw error
      }
    },
  }).catch(async (error: unknown) => {
    await reader.close()
    throw error
  })
  return {
    ...served,
    metrics: () => ({ ...served.metrics(), replicas: replication.latest }),
    async close() {
      replication.stop()
      await served.close()
      await reader.close()
    },
  }
}

/** Reads the store of a standby from time to time, beside its looks at the lease, which do not wait for it. */
class WarmReader {
  readonly #open: () => Promise<Store>
  readonly #world: World
  #store: Promise<Store> | undefined
  #reading: Promise<void> | undefined
  #looks = 0

  constructor(open: () => Promise<Store>, world: World) {
    this.#open = open
    this.#world = world
  }

  async look(): Promise<void> {
    if (this.#reading || this.#looks++ % looksPerRead !== 0) return
    this.#reading = this.#read()
      .catch((error: unknown) => this.#world.report('standby not warm', error))
      .finally(() => (this.#reading = undefined))
  }

  /** Closes the store. The next look opens it again. */
  async close(): Promise<void> {
    const store = this.#store
    this.#store = undefined
    this.#looks = 0
    await (await store?.catch(() => undefined))?.log.close()
  }

  async #read(): Promise<void> {
    this.#store ??= this.#open()
    try {
      const { warmRead } = await import('@atrium/host/cluster/warm')
      await warmRead(await this.#store)
    } catch (error) {
      await this.close()
      throw error
    }
  }
}

/**
 * Checks that the data folder of this node was used with this store, or with none. Its files belong to the sessions of one
 * store.
 */
async function checkHost(data: string, host: string, name: string): Promise<void> {
  const known = await remembered(data, 'host-id', host)
  if (known.trim() === host) return
  throw new CommandError(
    `${data} belongs to the host ${known.trim()}, and the store at ${name} to the host ${host}; name the right store, or another folder with --data.`,
  )
}

/** Returns the text of a file in the data folder. Writes it first if there is none. */
async function remembered(data: string, name: string, first: string): Promise<string> {
  const file = join(data, name)
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
    await writeFile(file, `${first}\n`, { mode: 0o600 })
    return first
  }
}
