import type { StoredEnvelope } from '@atrium/host/ports/log'
import { lineSum, link } from '../checksums.ts'
import type { Database } from '../database.ts'
import { toEnvelope } from '../lines.ts'
import type { Line } from '../lines.ts'
import { clientOf, contentOf } from '../segment-text.ts'
import type { Segment } from '../segment-text.ts'
import { orDamaged } from './failure.ts'

interface SegmentReader {
  /**
   * Returns the lines of the next segment of a channel. They have no checksums of their own, because the hash of the
   * segment covers them; the last line of the segment has the chain. The list is empty if no segment is in this range.
   */
  lines(uri: string, channel: number, after: number, upTo: number): readonly Line[]
  /**
   * Returns the chain after the last sealed envelope whose sequence number is at most `seq`. Undefined if there is no such
   * envelope.
   */
  chainAt(uri: string, channel: number, seq: number): number | undefined
  /**
   * Adds the sealed envelopes of a client to its newest other envelopes. Both `others` and the result are the newest of them,
   * newest first. Damaged segments are left out.
   */
  dispatchedBy(
    clientId: string,
    after: number,
    most: number,
    others: readonly StoredEnvelope[],
  ): readonly StoredEnvelope[]
}

/** Reads sealed envelopes. */
export function segmentReader(db: Database): SegmentReader {
  const columns = 's.first, s.last, s.count, s.before, s.after, s.hash, s.bytes'
  const next = db.prepare<Segment>(
    `SELECT ${columns} FROM segments s WHERE channel = ? AND last > ? AND first <= ? ORDER BY last LIMIT 1`,
  )
  const ended = db.prepare<{ readonly after: number }>(
    `SELECT after FROM segments WHERE channel = ? AND last <= ? ORDER BY last DESC LIMIT 1`,
  )
  const ofClient = db.prepare<Segment & { readonly newest: number; readonly uri: string }>(
    `SELECT c.last AS newest, uri, ${columns} FROM segment_clients c
     JOIN segments s ON s.id = c.segment JOIN channels ch ON ch.id = c.channel
     WHERE client = ? AND c.last > ? AND typeof(uri) = 'text' ORDER BY c.last DESC`,
  )

  return {
    lines(uri, channel, after, upTo) {
      const segment = next.get(channel, after, upTo)
      if (!segment) return []
      return contentOf(uri, segment)
        .map((line) => ({ ...line, sum: null, chain: line.seq === segment.last ? segment.after : null }))
        .filter(({ seq }) => seq > after && seq <= upTo)
    },

    chainAt(uri, channel, seq) {
      const segment = next.get(channel, seq, seq)
      if (!segment) return ended.get(channel, seq)?.after
      const lines = contentOf(uri, segment).filter((line) => line.seq <= seq)
      return lines.reduce((chain, line) => link(chain, lineSum({ ...line, channel: uri })), segment.before)
    },

    dispatchedBy(clientId, after, most, others) {
      let found = others
      for (const { newest, uri, ...segment } of ofClient.iterate(clientId, after)) {
        // The segments come in the order of the client's last envelope in each, newest first. So later segments cannot have
        // newer envelopes.
        if (found.length >= most && (found[most - 1]?.seq ?? 0) > newest) break
        const content = orDamaged(() => contentOf(uri, segment))
        if ('damaged' in content) continue
        const own = content
          .filter(({ seq, origin }) => seq > after && clientOf(origin) === clientId)
          .map((line) => toEnvelope(uri, { ...line, sum: null, chain: null }))
        found = [...found, ...own].toSorted((a, b) => b.seq - a.seq).slice(0, most)
      }
      return found
    },
  }
}
