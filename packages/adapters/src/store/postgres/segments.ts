import type { StoredEnvelope } from '@atrium/host/ports/log'
import { lineSum, link } from '../checksums.ts'
import { Damage, toEnvelope } from '../lines.ts'
import type { Line } from '../lines.ts'
import { clientOf, contentOf } from '../segment-text.ts'
import type { Segment } from '../segment-text.ts'
import { keyOf } from './key.ts'
import type { Query } from './link.ts'

const COLUMNS = 's.first, s.last, s.count, s.before, s.after, s.hash, s.bytes'

interface SegmentReader {
  /** Returns which of the channels have sealed envelopes after a number. */
  among(channels: readonly number[], after: number): Promise<ReadonlySet<number>>
  /**
   * Returns the lines of the next segment of a channel. They have no checksums of their own, because the hash of the
   * segment covers them; the last line of the segment has the chain. The list is empty if no segment is in this range.
   */
  lines(uri: string, channel: number, after: number, upTo: number): Promise<readonly Line[]>
  /**
   * Returns the chain after the last sealed envelope whose sequence number is at most `seq`. Undefined if there is no such
   * envelope.
   */
  chainAt(uri: string, channel: number, seq: number): Promise<number | undefined>
  /**
   * Adds the sealed envelopes of a client to its newest other envelopes. Both `others` and the result are the newest of them,
   * newest first. Damaged segments are left out.
   */
  dispatchedBy(
    clientId: string,
    after: number,
    most: number,
    others: readonly StoredEnvelope[],
  ): Promise<readonly StoredEnvelope[]>
}

/** Reads sealed envelopes. */
export function segmentReader(query: Query): SegmentReader {
  const next = async (channel: number, after: number, upTo: number): Promise<Segment | undefined> => {
    const { rows } = await query<Segment>(
      `SELECT ${COLUMNS} FROM segments s WHERE channel = $1 AND last > $2 AND first <= $3 ORDER BY last LIMIT 1`,
      [channel, after, upTo],
    )
    return rows[0]
  }

  return {
    async among(channels, after) {
      const { rows } = await query<{ readonly channel: number }>(
        `SELECT DISTINCT channel FROM segments WHERE channel = ANY($1::bigint[]) AND last > $2`,
        [channels, after],
      )
      return new Set(rows.map(({ channel }) => channel))
    },

    async lines(uri, channel, after, upTo) {
      const segment = await next(channel, after, upTo)
      if (!segment) return []
      return contentOf(uri, segment)
        .map((line) => ({ ...line, sum: null, chain: line.seq === segment.last ? segment.after : null }))
        .filter(({ seq }) => seq > after && seq <= upTo)
    },

    async chainAt(uri, channel, seq) {
      const segment = await next(channel, seq, seq)
      if (!segment) {
        const { rows } = await query<{ readonly after: number }>(
          `SELECT after FROM segments WHERE channel = $1 AND last <= $2 ORDER BY last DESC LIMIT 1`,
          [channel, seq],
        )
        return rows[0]?.after
      }
      const lines = contentOf(uri, segment).filter((line) => line.seq <= seq)
      return lines.reduce((chain, line) => link(chain, lineSum({ ...line, channel: uri })), segment.before)
    },

    async dispatchedBy(clientId, after, most, others) {
      let found = others
      for (let below = Number.MAX_SAFE_INTEGER; ;) {
        const { rows } = await query<Segment & { readonly newest: number; readonly uri: string }>(
          `SELECT c.last AS newest, uri, ${COLUMNS} FROM segment_clients c
           JOIN segments s ON s.id = c.segment JOIN channels ch ON ch.id = c.channel
           WHERE c.key = $1 AND c.last > $2 AND c.last < $3 AND ch.key IS NOT NULL ORDER BY c.last DESC LIMIT 1`,
          [keyOf(clientId), after, below],
        )
        const segment = rows[0]
        // The segments come in the order of the client's last envelope in each, newest first. So later segments cannot have
        // newer envelopes.
        if (!segment || (found.length >= most && (found[most - 1]?.seq ?? 0) > segment.newest)) return found
        below = segment.newest
        const own = undamaged(() => contentOf(segment.uri, segment))
          .filter(({ seq, origin }) => seq > after && isOf(origin, clientId))
          .map((line) => toEnvelope(segment.uri, { ...line, sum: null, chain: null }))
        found = [...found, ...own].toSorted((a, b) => b.seq - a.seq).slice(0, most)
      }
    },
  }
}

/** Returns what a function reads; nothing if that is damaged. */
export function undamaged<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof Damage) return []
    throw error
  }
}

/** Whether a client has dispatched an action. The client is given by its id or by its key. */
function isOf(origin: string | null, client: string): boolean {
  const id = clientOf(origin)
  return id !== undefined && keyOf(id) === keyOf(client)
}
