import type { StoredEnvelope } from '@atrium/host/ports/log'
import { checkpointSum } from '../checksums.ts'
import { Damage, toEnvelope } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { SqlDialect } from './dialect.ts'
import { segmentReader } from './segments.ts'
import { undamaged } from './work.ts'
import type { Work } from './work.ts'

/** The end of the envelopes that a channel has forgotten: its last number, and the chain there. */
export interface Checkpoint {
  readonly seq: number
  readonly chain: number
  readonly sum: number
}

/** Returns the reader of what is left of forgotten envelopes. */
export function checkpointReader(dialect: SqlDialect) {
  const sql = statements(dialect)
  const segments = segmentReader(dialect)

  /** Returns the checkpoint with which a channel begins. Undefined if the channel begins with its creation. */
  function* checkpointOf(uri: string, channel: number): Work<Checkpoint | undefined> {
    const [found] = yield* sql.checkpoint(channel)
    return found && verified(uri, found)
  }

  /** Returns the chain before the first envelope of a channel. */
  function* firstChain(uri: string, channel: number): Work<number> {
    const checkpoint = yield* checkpointOf(uri, channel)
    if (checkpoint) return checkpoint.chain
    const [birth] = yield* sql.birth(channel)
    if (!birth) throw new Damage('its creation is missing')
    return birth.sum
  }

  return {
    checkpointOf,
    firstChain,

    /** Returns the chain after the last envelope of a channel whose sequence number is at most `seq`. */
    *chainAt(uri: string, channel: number, seq: number): Work<number> {
      const [row] = yield* sql.row(channel, seq)
      return row?.chain ?? (yield* segments.chainAt(uri, channel, seq)) ?? (yield* firstChain(uri, channel))
    },

    /** Returns forgotten envelopes that a client may send again, newest first. Damaged ones are left out. */
    *keptOf(client: string, after: number, most: number): Work<readonly StoredEnvelope[]> {
      const kept = yield* sql.kept(client, after, most)
      return kept.flatMap(({ uri, ...line }) => undamaged(() => [toEnvelope(uri, line)]))
    },
  }
}

/** Returns a checkpoint after its checksum was verified. */
export function verified(uri: string, found: Checkpoint): Checkpoint {
  if (found.sum !== checkpointSum({ ...found, channel: uri }))
    throw new Damage('its checkpoint has a wrong checksum')
  return found
}

function statements(dialect: SqlDialect) {
  return {
    checkpoint: dialect.statement<Checkpoint>('SELECT seq, chain, sum FROM forgotten WHERE channel = ?1'),
    birth: dialect.statement<{ readonly sum: number }>('SELECT sum FROM channels WHERE id = ?1'),
    row: dialect.statement<{ readonly chain: number }>(
      'SELECT chain FROM envelopes WHERE channel = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1',
    ),
    kept: dialect.statement<Line & { readonly uri: string }>(
      `SELECT k.seq AS seq, action, origin, k.sum AS sum, NULL AS chain, uri FROM kept k JOIN channels c ON id = k.channel
       WHERE k.${dialect.by('client')} = ?1 AND k.seq > ?2 AND ${dialect.there('c')} ORDER BY k.seq DESC LIMIT ?3`,
    ),
  }
}
