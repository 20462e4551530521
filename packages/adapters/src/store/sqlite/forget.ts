import type { StoredEnvelope } from '@atrium/host/ports/log'
import { checkpointSum, creationSum, lineSum } from '../checksums.ts'
import type { Database } from '../database.ts'
import { Damage, toEnvelope } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { StoreApi } from '../worker-api.ts'
import { orDamaged } from './failure.ts'
import { segmentReader } from './segments.ts'

/** The end of the envelopes that a channel has forgotten: its last number, and the chain there. */
interface Checkpoint {
  readonly seq: number
  readonly chain: number
}

interface Sum {
  readonly sum: number
}

interface CheckpointReader {
  /** Returns the checkpoint with which a channel begins. Undefined if the channel begins with its creation. */
  checkpointOf(uri: string, channel: number): Checkpoint | undefined
  /** Returns the chain before the first envelope of a channel. */
  firstChain(uri: string, channel: number): number
  /** Returns the chain after the last envelope of a channel whose sequence number is at most `seq`. */
  chainAt(uri: string, channel: number, seq: number): number
  /** Returns forgotten envelopes that a client may send again, newest first. Damaged ones are left out. */
  keptOf(clientId: string, after: number, most: number): readonly StoredEnvelope[]
}

/** Reads what is left of forgotten envelopes. */
export function checkpointReader(db: Database): CheckpointReader {
  const checkpoint = db.prepare<Checkpoint & Sum>(`SELECT seq, chain, sum FROM forgotten WHERE channel = ?`)
  const birth = db.prepare<Sum>(`SELECT sum FROM channels WHERE id = ?`)
  const row = db.prepare<{ readonly chain: number }>(
    `SELECT chain FROM envelopes WHERE channel = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`,
  )
  const kept = db.prepare<Line & { readonly uri: string }>(
    `SELECT k.seq AS seq, action, origin, k.sum AS sum, NULL AS chain, uri FROM kept k JOIN channels ON id = k.channel
     WHERE client = ? AND k.seq > ? AND typeof(uri) = 'text' ORDER BY k.seq DESC LIMIT ?`,
  )
  const segments = segmentReader(db)

  const checkpointOf = (uri: string, channel: number): Checkpoint | undefined => {
    const found = checkpoint.get(channel)
    if (found && found.sum !== checkpointSum({ ...found, channel: uri }))
      throw new Damage('its checkpoint has a wrong checksum')
    return found
  }

  const firstChain = (uri: string, channel: number): number => {
    const chain = checkpointOf(uri, channel)?.chain ?? birth.get(channel)?.sum
    if (chain === undefined) throw new Damage('its creation is missing')
    return chain
  }

  return {
    checkpointOf,
    firstChain,

    chainAt(uri, channel, seq) {
      const found = row.get(channel, seq)?.chain ?? segments.chainAt(uri, channel, seq)
      return found ?? firstChain(uri, channel)
    },

    keptOf: (clientId, after, most) =>
      kept.all(clientId, after, most).flatMap(({ uri, ...line }) => {
        const envelope = orDamaged(() => toEnvelope(uri, line))
        return 'damaged' in envelope ? [] : [envelope]
      }),
  }
}

/** Returns a function that forgets the envelopes of a channel up to a checkpoint. */
export function forgetter(db: Database, dispatchedBy: StoreApi['dispatchedBy']): Pick<StoreApi, 'forget'> {
  const sql = statements(db)
  const checkpoints = checkpointReader(db)

  /** Keeps some of the actions that are about to be forgotten: those that are among the newest actions of their client. */
  const keep = ({ uri, id, upTo, keys }: Forgotten): void => {
    for (const { client } of sql.clients.all(id, upTo, id, upTo)) {
      const newest = dispatchedBy(client, 0, keys)
      for (const { seq, channel, action, origin } of newest)
        if (channel === uri && seq <= upTo && origin) {
          const text = JSON.stringify(origin)
          sql.keep.run(seq, client, id, action, text, lineSum({ seq, channel, action, origin: text }))
        }
      if (newest.length === keys) sql.prune.run(client, newest[0]?.seq ?? 0)
    }
  }

  return {
    forget({ channel: uri, seq, state }, keys) {
      const channel = sql.channel.get(uri)
      if (!channel || channel.seq >= seq) return false
      const { id, kind } = channel
      const chain = orDamaged(() => checkpoints.chainAt(uri, id, seq))
      // A damaged channel is set aside, and nothing of it is deleted.
      if (typeof chain !== 'number') return false
      db.exec('BEGIN IMMEDIATE')
      try {
        // A segment that also has envelopes after the checkpoint stays as it is, and so do the actions of clients in it.
        const upTo = sql.divided.get(id, seq, seq) ? (sql.lastWhole.get(id, seq).last ?? 0) : seq
        keep({ uri, id, upTo, keys })
        for (const statement of sql.delete) statement.run(id, seq)
        sql.begin.run(seq, state, creationSum({ seq, channel: uri, kind, state }), id)
        sql.putCheckpoint.run(id, seq, chain, checkpointSum({ seq, channel: uri, chain }))
        db.exec('COMMIT')
        return true
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK')
        throw error
      }
    },
  }
}

/** The envelopes of a channel that are forgotten: those up to a number. `keys`: how many actions of each client stay known. */
interface Forgotten {
  readonly uri: string
  readonly id: number
  readonly upTo: number
  readonly keys: number
}

function statements(db: Database) {
  return {
    channel: db.prepare<{ readonly id: number; readonly kind: string; readonly seq: number }>(
      `SELECT id, kind, seq FROM channels WHERE uri = ?`,
    ),
    divided: db.prepare<object>(`SELECT 1 FROM segments WHERE channel = ? AND first <= ? AND last > ?`),
    lastWhole: db.prepare<{ readonly last: number | null }, never>(
      `SELECT max(last) AS last FROM segments WHERE channel = ? AND last <= ?`,
    ),
    clients: db.prepare<{ readonly client: string }>(
      `SELECT client FROM segment_clients c JOIN segments s ON s.id = c.segment WHERE s.channel = ? AND s.last <= ?
       UNION SELECT origin ->> 'clientId' FROM envelopes WHERE origin IS NOT NULL AND channel = ? AND seq <= ?`,
    ),
    keep: db.prepare(
      `REPLACE INTO kept (seq, client, channel, action, origin, sum) VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    prune: db.prepare(`DELETE FROM kept WHERE client = ? AND seq < ?`),
    delete: [
      db.prepare(
        `DELETE FROM segment_clients WHERE segment IN (SELECT id FROM segments WHERE channel = ? AND last <= ?)`,
      ),
      db.prepare(`DELETE FROM segments WHERE channel = ? AND last <= ?`),
      db.prepare(`DELETE FROM envelopes WHERE channel = ? AND seq <= ?`),
      // An older head could not be continued: the envelopes after it are gone.
      db.prepare(`DELETE FROM heads WHERE channel = ? AND seq < ?`),
    ],
    begin: db.prepare(`UPDATE channels SET seq = ?, state = ?, sum = ? WHERE id = ?`),
    putCheckpoint: db.prepare(`REPLACE INTO forgotten (channel, seq, chain, sum) VALUES (?, ?, ?, ?)`),
  }
}
