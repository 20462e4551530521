import type { Handlers } from '../../process/thread-request.ts'
import { checkpointSum, creationSum, lineSum } from '../checksums.ts'
import type { StoreApi } from '../worker-api.ts'
import { checkpointReader } from './checkpoints.ts'
import type { SqlDialect, SqlStore } from './dialect.ts'
import { clientReader } from './read.ts'
import { orDamaged, only } from './work.ts'
import type { Work } from './work.ts'

/** The envelopes of a channel that are forgotten: those up to a number. `keys`: how many actions of each client stay known. */
interface Forgotten {
  readonly uri: string
  readonly id: number
  readonly upTo: number
  readonly keys: number
}

/** Returns a function that forgets the envelopes of a channel up to a checkpoint. */
export function forgetter(store: SqlStore): Pick<Handlers<StoreApi>, 'forget'> {
  const { dialect } = store
  const sql = statements(dialect)
  const checkpoints = checkpointReader(dialect)
  const newestOf = clientReader(dialect)

  /** Keeps some of the actions that are about to be forgotten: those that are among the newest actions of their client. */
  function* keep({ uri, id, upTo, keys }: Forgotten): Work<void> {
    for (const { client } of yield* sql.clients(id, upTo)) {
      const newest = yield* newestOf(client, { after: 0, most: keys })
      for (const { seq, channel, action, origin: by } of newest)
        if (channel === uri && seq <= upTo && by) {
          const origin = JSON.stringify(by)
          yield* sql.keep(seq, client, id, action, origin, lineSum({ seq, channel, action, origin }))
        }
      if (newest.length === keys) yield* sql.prune(client, newest[0]?.seq ?? 0)
    }
  }

  /**
   * Returns the number up to which envelopes are forgotten. A segment that also has envelopes after the checkpoint stays as it is, and so
   * do the actions of clients in it.
   */
  function* lastWhole(id: number, seq: number): Work<number> {
    const divided = yield* sql.divided(id, seq)
    return divided.length === 0 ? seq : (only(yield* sql.lastWhole(id, seq)).last ?? 0)
  }

  return {
    forget: ({ channel: uri, seq, state }, keys) =>
      store.write(function* (again): Work<boolean> {
        const [channel] = yield* sql.channel(dialect.key(uri))
        if (again && channel?.seq === seq) return true
        if (!channel || channel.seq >= seq) return false
        const { id, kind } = channel
        const chain = yield* orDamaged(dialect, checkpoints.chainAt(uri, id, seq))
        // A damaged channel is set aside, and nothing of it is deleted.
        if (typeof chain !== 'number') return false
        yield* keep({ uri, id, upTo: yield* lastWhole(id, seq), keys })
        for (const remove of sql.delete) yield* remove(id, seq)
        yield* sql.begin(seq, state, creationSum({ seq, channel: uri, kind, state }), id)
        yield* sql.putCheckpoint(id, seq, chain, checkpointSum({ seq, channel: uri, chain }))
        return true
      }),
  }
}

function statements(dialect: SqlDialect) {
  const client = dialect.by('client')
  return {
    channel: dialect.statement<{ readonly id: number; readonly kind: string; readonly seq: number }>(
      `SELECT id, kind, seq FROM channels WHERE ${dialect.by('uri')} = ?1`,
    ),
    divided: dialect.statement<object>(
      'SELECT 1 AS divided FROM segments WHERE channel = ?1 AND first <= ?2 AND last > ?2',
    ),
    lastWhole: dialect.statement<{ readonly last: number | null }>(
      'SELECT max(last) AS last FROM segments WHERE channel = ?1 AND last <= ?2',
    ),
    clients: dialect.statement<{ readonly client: string }>(
      `SELECT c.${client} AS client FROM segment_clients c JOIN segments s ON s.id = c.segment
         WHERE s.channel = ?1 AND s.last <= ?2
       UNION SELECT ${dialect.origin} FROM envelopes e WHERE origin IS NOT NULL AND channel = ?1 AND seq <= ?2`,
    ),
    keep: dialect.statement(
      `INSERT INTO kept (seq, ${client}, channel, action, origin, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (seq) DO NOTHING`,
    ),
    prune: dialect.statement(`DELETE FROM kept WHERE ${client} = ?1 AND seq < ?2`),
    delete: [
      dialect.statement(
        `DELETE FROM segment_clients WHERE segment IN (SELECT id FROM segments WHERE channel = ?1 AND last <= ?2)`,
      ),
      dialect.statement('DELETE FROM segments WHERE channel = ?1 AND last <= ?2'),
      dialect.statement('DELETE FROM envelopes WHERE channel = ?1 AND seq <= ?2'),
      // An older head could not be continued: the envelopes after it are gone.
      dialect.statement('DELETE FROM heads WHERE channel = ?1 AND seq < ?2'),
    ],
    begin: dialect.statement('UPDATE channels SET seq = ?1, state = ?2, sum = ?3 WHERE id = ?4'),
    putCheckpoint: dialect.statement(
      `INSERT INTO forgotten (channel, seq, chain, sum) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT (channel) DO UPDATE SET seq = excluded.seq, chain = excluded.chain, sum = excluded.sum`,
    ),
  }
}
