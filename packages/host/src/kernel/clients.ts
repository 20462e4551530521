import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { limits } from '@atrium/protocol/limits'
import type { Implementation } from '@atrium/protocol/root/connection'
import { nativeVersion } from '@atrium/protocol/versions/negotiate'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { compact, without } from '@atrium/protocol/update'
import type { Log } from './log/log.ts'
import type { Link } from './link.ts'
import type { LogStore } from '../ports/log.ts'
import type { Records } from '../ports/records.ts'
import { readRecord, readText } from './records/checked-records.ts'
import type { World } from '../ports/world.ts'

/** The host's record of a client, kept across links and restarts. */
export interface ClientRecord {
  readonly clientId: string
  /** The owner of the client id: the principal that used it first. */
  readonly principal: string
  /** The device that used the client id first. Undefined for a client with the token of the host. */
  readonly device?: string
  readonly version: Version
  /** The client's own name and version. */
  readonly info?: Implementation
  /** The last snapshot sent, by channel. Stored records call it `handed`. */
  readonly handed: ReadonlyMap<Uri, SnapshotSent>
  /** How the client names sessions. Undefined if it uses no alias. */
  readonly naming?: SessionNaming
  /** The first number of the run of the host in which the client was here last. Earlier builds stored none. */
  readonly run?: number
  /** Set if the client was away for so long that only its id, its principal and its device are known. */
  readonly forgotten?: true
}

/**
 * How a client names sessions: by their aliases (`<provider>:/<id>`) if `aliases` is true, otherwise by their URIs.
 * The sessions in `except` are named in the other way.
 */
export interface SessionNaming {
  readonly aliases: boolean
  readonly except: readonly Uri[]
}

/** A snapshot that was sent, and the options of its subscription. */
export interface SnapshotSent {
  readonly fromSeq: number
  /**
   * Set if the client may have seen `fromSeq` before the snapshot. Then a client whose last seen number is `fromSeq`
   * may lack the snapshot.
   */
  readonly unsure?: true
  readonly turns?: number
  readonly maxLatencyMs?: number
  /** Number of older turns that the snapshot left out. */
  readonly cut?: number
  /** Set if older turns were sent later, or if all turns were removed. Then it is uncertain which turns the client has. */
  readonly extended?: true
}

/** A connected client, as other clients see it. */
export interface Present extends Partial<Implementation> {
  readonly protocolVersion: Version
}

/** What is known of a program that speaks AHP, and cannot be learned from the messages of one connection. */
export interface ClientHabits {
  /** The client can open a session only by its alias `<provider>:/<id>`, not by its URI. */
  readonly usesAliases?: true
  /** The client creates a session before its user has written a message, and often leaves the session unused. */
  readonly createsInAdvance?: true
  /** The client removes a form when its user has answered, and never shows another form with the same id. */
  readonly dropsAnsweredForms?: true
  /** The client asks its user before it runs a tool of its own, but not if the call is confirmed already. */
  readonly asksBeforeTools?: true
}

export class Clients {
  readonly #records: Records
  readonly #log: Log
  readonly #world: Pick<World, 'now'>
  /** What is known of a program by its name. */
  readonly habits: (clientName?: string) => ClientHabits
  /** The newest link of each client id. A link is entered here at the start of its handshake. */
  readonly links = new Map<string, Link>()
  readonly #known = new Map<string, ClientRecord>()

  constructor(records: Records, log: Log, world: Pick<World, 'now'>, habits = habitsOf) {
    this.habits = habits
    this.#records = records
    this.#log = log
    this.#world = world
  }

  /** Returns the record of a client id. Throws if the id belongs to another principal, or to another device. */
  async find(clientId: string, principal: string, device?: string): Promise<ClientRecord | undefined> {
    const record = this.#known.get(clientId) ?? (await readRecord(this.#records, keyOf(clientId), read))
    if (record && (record.principal !== principal || record.device !== device)) throw foreignClientId()
    return record
  }

  keep(record: ClientRecord): void {
    const here: ClientRecord = { ...record, run: this.#log.first }
    this.#known.set(record.clientId, here)
    const handed = [...record.handed].slice(-limits.handed)
    const { forgotten: _, ...kept } = here
    this.#records.put(keyOf(record.clientId), JSON.stringify({ ...kept, handed, seen: this.#world.now() }))
    this.#log.scheduleFlush()
  }

  /** Returns the protocol version of a connected client. */
  versionOf(clientId: string): Version | undefined {
    return this.#known.get(clientId)?.version
  }

  /** Returns what a connected client calls itself. */
  implementationOf(clientId: string): Implementation | undefined {
    return this.#known.get(clientId)?.info
  }

  /** Returns the connected clients of a principal, without their ids: whoever knows a client id can act as that client. */
  present(principal: string): readonly Present[] {
    const here: Present[] = []
    for (const { principal: owner, version, info } of this.#known.values()) {
      if (owner === principal) here.push({ ...info, protocolVersion: version })
      if (here.length === limits.present) break
    }
    return here
  }

  /**
   * Forgets clients that were not connected for `ms` milliseconds. The id, the principal and the device of such a
   * client stay as long as an envelope names the client, so that nobody else can take the id over.
   */
  async sweep(store: LogStore, ms: number): Promise<void> {
    const now = this.#world.now()
    for (const [key, text] of await this.#records.list(prefix)) {
      const stored = readText(this.#records, key, { text, read: parsed })
      if (!stored) continue
      const { clientId, principal, device, version, seen } = stored
      const here = this.#known.get(clientId)
      if (here) this.keep(here)
      // Earlier builds stored no time. For such a record the time begins now.
      else if (version !== undefined && seen === undefined)
        this.#records.put(key, JSON.stringify({ ...stored, seen: now }))
      else if (version === undefined || now - (seen ?? now) > ms) {
        const named = (await store.dispatchedBy(clientId, 0, 1)).length > 0
        // The client may have come back meanwhile.
        if (this.#known.has(clientId)) continue
        if (!named) this.#records.delete(key)
        else if (version !== undefined)
          this.#records.put(key, JSON.stringify({ clientId, principal, device }))
      }
    }
    this.#log.scheduleFlush()
  }

  /** Drops a disconnected client from memory. The client's record stays on the disk. */
  leave(clientId: string): void {
    this.#known.delete(clientId)
  }
}

/** Returns a record with the way in which its client names sessions now. */
export function withNaming(record: ClientRecord, naming: SessionNaming | undefined): ClientRecord {
  return naming ? { ...record, naming } : without(record, 'naming')
}

export function foreignClientId(): AhpError {
  return AhpError.permissionDenied(
    'this client id belongs to another principal or device: choose another one',
  )
}

/** Returns the client's own name, title and version, each cut to `infoLength`. */
export function infoOf({ name, title, version }: Implementation): Implementation {
  const short = (text: string) => text.slice(0, limits.infoLength)
  return compact<Implementation>({
    name: short(name),
    title: title && short(title),
    version: version && short(version),
  })
}

/**
 * The record of a client as it is stored. Of a forgotten client only the id, the principal and the device are there.
 */
interface StoredClient extends Omit<ClientRecord, 'version' | 'handed' | 'forgotten'> {
  readonly version?: Version
  /** When the client was last here, in milliseconds. */
  readonly seen?: number
  readonly handed?: readonly (readonly [Uri, SnapshotSent])[]
}

const prefix = 'client/'

function keyOf(clientId: string): string {
  return `${prefix}${clientId}`
}

/** Parses a record. The shape is trusted, because `keep` or `sweep` has written the text. */
function parsed(text: string): StoredClient {
  return JSON.parse(text)
}

function read(text: string): ClientRecord {
  const { seen: _, version, handed = [], ...record } = parsed(text)
  if (version === undefined) return { ...record, version: nativeVersion, handed: new Map(), forgotten: true }
  return { ...record, version, handed: new Map(handed.map(([uri, sent]) => [uri, withCount(sent)])) }
}

/**
 * Converts a stored snapshot of the first builds, which has `cut: true`. It says that turns were left out, but not
 * how many.
 */
function withCount({ cut, ...handed }: SnapshotSent): SnapshotSent {
  if (cut === undefined) return handed
  return typeof cut === 'number' ? { ...handed, cut } : { ...handed, extended: true }
}

/** The programs with habits, by the beginning of the name in their `clientInfo`. */
const known: readonly (readonly [name: string, habits: ClientHabits])[] = [
  ['vscode', { usesAliases: true, createsInAdvance: true, dropsAnsweredForms: true, asksBeforeTools: true }],
]

export function habitsOf(clientName = ''): ClientHabits {
  return known.find(([name]) => clientName.startsWith(name))?.[1] ?? {}
}
