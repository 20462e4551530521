import type { StoredEnvelope } from '@atrium/host/ports/log'
import { lineSum, link } from '../checksums.ts'
import { toEnvelope } from '../lines.ts'
import type { Line } from '../lines.ts'
import { clientOf, contentOf } from '../segment-text.ts'
import type { Segment } from '../segment-text.ts'
import type { SqlDialect } from './dialect.ts'
import { undamaged } from './work.ts'
import type { Work } from './work.ts'

/** Returns the reader of sealed envelopes. */
export function segmentReader(dialect: SqlDialect) {
  const sql = statements(dialect)
  return {
    /** Returns which of the channels have sealed envelopes after a number. */
    *among(channels: readonly number[], after: number): Work<ReadonlySet<number>> {
      return new Set((yield* sql.among(channels, after)).map(({ channel }) => channel))
    },

    /**
     * Returns the lines of the next segment of a channel. They have no checksums of their own, because the hash of the segment covers
     * them; the last line of the segment has the chain. The list is empty if no segment is in this range.
     */
    *lines(uri: string, channel: number, after: number, upTo: number): Work<readonly Line[]> {
      const [segment] = yield* sql.next(channel, after, upTo)
      if (!segment) return []
      return contentOf(uri, segment)
        .map((line) => ({ ...line, sum: null, chain: line.seq === segment.last ? segment.after : null }))
        .filter(({ seq }) => seq > after && seq <= upTo)
    },

    /**
     * Returns the chain after the last sealed envelope whose sequence number is at most `seq`. Undefined if there is no such envelope.
     */
    *chainAt(uri: string, channel: number, seq: number): Work<number | undefined> {
      const [segment] = yield* sql.next(channel, seq, seq)
      if (!segment) return (yield* sql.ended(channel, seq))[0]?.after
      const lines = contentOf(uri, segment).filter((line) => line.seq <= seq)
      return lines.reduce((chain, line) => link(chain, lineSum({ ...line, channel: uri })), segment.before)
    },

    /**
     * Adds the sealed envelopes of a client to its newest other envelopes. Both `others` and the result are the newest of them, newest
     * first. Damaged segments are left out. The client is given by its key.
     */
    *dispatchedBy(
      client: string,
      { after, most }: { readonly after: number; readonly most: number },
      others: readonly StoredEnvelope[],
    ): Work<readonly StoredEnvelope[]> {
      const isOf = (origin: string | null) => dialect.key(clientOf(origin) ?? '') === client
      let found = others
      for (let below = Number.MAX_SAFE_INTEGER; ;) {
        const [segment] = yield* sql.ofClient(client, after, below)
        // The segments come in the order of the client's last envelope in each, newest first. So later segments cannot have
        // newer envelopes.
        if (!segment || (found.length >= most && (found[most - 1]?.seq ?? 0) > segment.newest)) return found
        below = segment.newest
        const own = undamaged(() => contentOf(segment.uri, segment))
          .filter(({ seq, origin }) => seq > after && origin !== null && isOf(origin))
          .map((line) => toEnvelope(segment.uri, { ...line, sum: null, chain: null }))
        found = [...found, ...own].toSorted((a, b) => b.seq - a.seq).slice(0, most)
      }
    },
  }
}

const COLUMNS = 's.first, s.last, s.count, s.before, s.after, s.hash, s.bytes'

function statements(dialect: SqlDialect) {
  return {
    among: dialect.statement<{ readonly channel: number }>(
      `SELECT DISTINCT channel FROM ${dialect.list('bigint')} JOIN segments s ON s.channel = l.value WHERE last > ?2`,
    ),
    next: dialect.statement<Segment>(
      `SELECT ${COLUMNS} FROM segments s WHERE channel = ?1 AND last > ?2 AND first <= ?3 ORDER BY last LIMIT 1`,
    ),
    ended: dialect.statement<{ readonly after: number }>(
      `SELECT after FROM segments WHERE channel = ?1 AND last <= ?2 ORDER BY last DESC LIMIT 1`,
    ),
    ofClient: dialect.statement<Segment & { readonly newest: number; readonly uri: string }>(
      `SELECT c.last AS newest, uri, ${COLUMNS} FROM segment_clients c
       JOIN segments s ON s.id = c.segment JOIN channels ch ON ch.id = c.channel
       WHERE c.${dialect.by('client')} = ?1 AND c.last > ?2 AND c.last < ?3 AND ${dialect.there('ch')}
       ORDER BY c.last DESC LIMIT 1`,
    ),
  }
}
