import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { limits } from '@atrium/protocol/limits'
import type { Implementation } from '@atrium/protocol/root/connection'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { compact } from '@atrium/protocol/update'
import type { Log } from '../log/log.ts'
import type { Records } from '../ports/records.ts'

/** What the host remembers of a client, across links and restarts. */
export interface ClientRecord {
  readonly clientId: string
  /** The first to use an id owns it. */
  readonly principal: string
  readonly version: Version
  /** What it calls itself. */
  readonly info?: Implementation
  /** Each channel it follows, with the snapshot it was handed. */
  readonly handed: ReadonlyMap<Uri, SnapshotSent>
}

/** A snapshot's number, and how its subscriber wanted to see what follows. */
export interface SnapshotSent {
  readonly fromSeq: number
  /** The client may have seen this number before: having seen it does not show that it has the snapshot. */
  readonly unsure?: true
  readonly turns?: number
  readonly maxLatencyMs?: number
  /** It had the newest turns only: so many older ones were left out. */
  readonly cut?: number
  /** It was given some of those since, or all were taken away: which it has is not known for sure. */
  readonly extended?: true
}

/** A client that is here, as others are told of it. */
export interface Present extends Partial<Implementation> {
  readonly protocolVersion: Version
}

export class Clients {
  readonly #records: Records
  readonly #log: Log
  readonly #known = new Map<string, ClientRecord>()

  constructor(records: Records, log: Log) {
    this.#records = records
    this.#log = log
  }

  /** The record of a client id; refused when it belongs to somebody else. */
  async find(clientId: string, principal: string): Promise<ClientRecord | undefined> {
    const record = this.#known.get(clientId) ?? read(await this.#records.get(keyOf(clientId)))
    if (record && record.principal !== principal) throw foreignClientId()
    return record
  }

  keep(record: ClientRecord): void {
    this.#known.set(record.clientId, record)
    const handed = [...record.handed].slice(-limits.handed)
    this.#records.put(keyOf(record.clientId), JSON.stringify({ ...record, handed }))
    this.#log.scheduleFlush()
  }

  /** Who is here of a principal, for people to see: without the ids, by which one could speak for another. */
  present(principal: string): readonly Present[] {
    const here: Present[] = []
    for (const { principal: owner, version, info } of this.#known.values()) {
      if (owner === principal) here.push({ ...info, protocolVersion: version })
      if (here.length === limits.present) break
    }
    return here
  }

  /** A client has gone: its record stays on the disk. */
  leave(clientId: string): void {
    this.#known.delete(clientId)
  }
}

export function foreignClientId(): AhpError {
  return AhpError.permissionDenied('this client id belongs to somebody else')
}

/** What a client calls itself, in words of a bearable length. */
export function infoOf({ name, title, version }: Implementation): Implementation {
  const short = (text: string) => text.slice(0, limits.infoLength)
  return compact<Implementation>({
    name: short(name),
    title: title && short(title),
    version: version && short(version),
  })
}

function keyOf(clientId: string): string {
  return `client/${clientId}`
}

function read(text: string | undefined): ClientRecord | undefined {
  if (text === undefined) return undefined
  const record = JSON.parse(text) as ClientRecord & { handed: readonly (readonly [Uri, SnapshotSent])[] }
  return { ...record, handed: new Map(record.handed.map(([uri, handed]) => [uri, withCount(handed)])) }
}

/** The first builds kept that something was left out, and not how much. */
function withCount({ cut, ...handed }: SnapshotSent): SnapshotSent {
  if (cut === undefined) return handed
  return typeof cut === 'number' ? { ...handed, cut } : { ...handed, extended: true }
}
