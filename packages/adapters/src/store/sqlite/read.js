import { creationSum, headSum, lineSum, link } from '../checksums.js'
import { checkpointReader } from './forget.js'
import { Damage, LINE_END, nextSource, toEnvelope, verify } from '../lines.js'
import { orDamaged, toLine } from './lines.js'
import { rowReader } from './rows.js'
import { segmentReader } from './segments.js'

/** @typedef {import('./open.js').Database} Database */
/** @typedef {import('../lines.js').Line} Line */
/** @typedef {{ id: number, kind: string, seq: number, chain: number, rows: number }} Channel a channel and its tail */
/** @typedef {import('../worker-api.ts').RecordChunk} RecordChunk */
/** @typedef {{ seq: number, state: string, chain: number, rowIds: string | null, rows: string[], fromCreation: boolean }} Start the state from which envelopes are replayed */
/** @typedef {{ seqs: number[], places: number[], actions: string[], origins: (string | null)[], more: boolean, forgotten: boolean }} Columns */

/** The maximum number of characters of one slice. */
const SLICE = 1024 * 1024
/** The maximum number of lines of one query. */
const CHUNK = 2000
const MAX_SEQ = Number.MAX_SAFE_INTEGER

/**
 * Reads channels, envelopes and records. All data is verified when it is read. Damaged data is reported and never returned.
 * @param {Database} db
 */
export function reader(db) {
  const sql = statements(db)
  const rows = rowReader(db)
  const segments = segmentReader(db)
  const checkpoints = checkpointReader(db)
  // The channels that are missing in a damaged index. Without this list the store would take them for channels that do not
  // exist.
  const unindexed = orDamaged(() => new Set(sql.unindexed.all().map(({ uri }) => uri)))

  /**
   * Returns the next lines of a channel that are stored as rows. The query joins the lines to one text, because SQLite's
   * binding returns one text many times faster than many rows.
   * @param {number} id
   * @param {number} after
   * @param {number} upTo
   * @param {{ lines: number, length: number }} most
   * @returns {Line[]}
   */
  const rowsOf = (id, after, upTo, most = { lines: CHUNK, length: SLICE }) => {
    const { last: lastOfChunk, size } = sql.size.get(id, after, upTo, most.lines)
    // A chunk of lines nearly always fits into a slice. If it does not, a second query finds the last line of the slice.
    const last =
      size <= most.length ? lastOfChunk : sql.chunk.get(id, after, upTo, most.lines, most.length)?.last
    const text = last ? sql.lines.get(id, after, last)?.text : ''
    return text ? text.split(LINE_END).map(toLine) : []
  }

  /**
   * Returns the next lines of a channel: those of a segment or, after the last segment, rows.
   * @param {string} uri
   * @param {number} id
   * @param {number} after
   * @param {number} upTo
   * @returns {Line[]}
   */
  const linesOf = (uri, id, after, upTo) => {
    const sealed = segments.lines(uri, id, after, upTo)
    return sealed.length > 0 ? sealed : rowsOf(id, after, upTo)
  }

  /**
   * Returns the head with its newest rows. Returns undefined if any of this is damaged, because the envelopes can rebuild the
   * head and the rows.
   * @param {string} uri
   * @param {Channel} channel
   * @param {number} tail
   * @returns {Start | undefined}
   */
  const headOf = (uri, channel, tail) => {
    const { id, kind } = channel
    const head = sql.head.get(id)
    if (!head || head.sum !== headSum({ ...head, channel: uri, kind })) return undefined
    const rowIds = rows.ids(id, channel.rows)
    if (rowIds === undefined) return undefined
    const texts = []
    for (const row of rows.newest(id, tail)) {
      const text = rows.text(uri, id, row)
      if (text === undefined) return undefined
      texts.push(text)
    }
    return { ...head, rowIds, rows: texts, fromCreation: false }
  }

  /**
   * @param {string} uri
   * @param {Channel} channel
   * @returns {Start}
   */
  const creationOf = (uri, { id, kind }) => {
    const { seq, state, sum } = sql.creation.get(id)
    if (sum !== creationSum({ seq, channel: uri, kind, state }))
      throw new Damage('its creation has a wrong checksum')
    return { seq, state, chain: checkpoints.firstChain(uri, id), rowIds: null, rows: [], fromCreation: true }
  }

  /**
   * @param {string} uri
   * @param {Channel} channel
   * @param {Start} start
   */
  const linesAfter = (uri, channel, start) => {
    let { seq, chain } = start
    const envelopes = []
    for (
      let lines = linesOf(uri, channel.id, seq, MAX_SEQ);
      lines.length > 0;
      lines = linesOf(uri, channel.id, seq, MAX_SEQ)
    )
      for (const line of lines) {
        envelopes.push(toEnvelope(uri, line))
        seq = line.seq
        chain = link(chain, line.sum ?? lineSum({ ...line, channel: uri }))
        if (line.chain !== null && chain !== line.chain)
          throw new Damage(`number ${seq} does not continue the one before it`)
      }
    // The head may be newer than the last envelope. So only the chain shows whether an envelope is missing.
    if (chain !== channel.chain) throw new Damage(`the actions after number ${seq} are missing`)
    return envelopes
  }

  return {
    rowsOf,

    /**
     * @param {string} uri
     * @param {number} tail
     */
    load(uri, tail) {
      return orDamaged(() => {
        const channel = /** @type {Channel | undefined} */ (sql.channel.get(uri))
        const known = channel ?? sql.id.get(uri)
        if (!known && 'has' in unindexed && !unindexed.has(uri)) return undefined
        if (!channel) throw new Damage('the index of channels has lost it')
        if (channel.chain === null) throw new Damage('its tail is missing')
        checkpoints.checkpointOf(uri, channel.id)
        const head = orDamaged(() => headOf(uri, channel, tail))
        const start = head && !('damaged' in head) ? head : creationOf(uri, channel)
        const envelopes = linesAfter(uri, channel, start)
        return {
          kind: channel.kind,
          seq: start.seq,
          state: start.state,
          rowIds: start.rowIds,
          rows: start.rows,
          fromCreation: start.fromCreation,
          envelopes,
        }
      })
    },

    /**
     * @param {string} uri
     * @param {readonly string[]} ids
     */
    rows(uri, ids) {
      const channel = sql.id.get(uri)?.id
      /** @type {import('@atrium/host/ports/log').StoredRow[]} */
      const found = []
      let size = 0
      for (const id of channel === undefined ? [] : ids) {
        const text = orDamaged(() => rows.text(uri, channel, id))
        if (typeof text !== 'string') continue
        size += text.length
        if (size > SLICE && found.length > 0) return { rows: found, more: true }
        found.push({ id, text })
      }
      return { rows: found, more: false }
    },

    /**
     * Merges the envelopes of several channels by sequence number. The result consists of columns, which are cheaper to copy
     * between threads than objects.
     * @param {readonly string[]} uris
     * @param {number} after
     * @param {number} upTo
     */
    read(uris, after, upTo) {
      let forgotten = false
      const sources = [...new Set(uris)].flatMap((uri, place) => {
        const channel = sql.id.get(uri)
        if (!channel) return []
        const { id } = channel
        const from = checkpoints.checkpointOf(uri, id)?.seq ?? 0
        if (from > after) forgotten = true
        return [{ uri, place, id, lines: linesOf(uri, id, Math.max(after, from), upTo), at: 0 }]
      })
      /** @type {Columns} */
      const columns = { seqs: [], places: [], actions: [], origins: [], more: false, forgotten }
      for (let size = 0; ;) {
        const source = nextSource(sources)
        const line = source?.lines[source.at]
        if (!source || !line) return columns
        size += line.action.length
        if (size > SLICE && columns.seqs.length > 0) return { ...columns, more: true }
        verify(source.uri, line)
        columns.seqs.push(line.seq)
        columns.places.push(source.place)
        columns.actions.push(line.action)
        columns.origins.push(line.origin)
        if (++source.at < source.lines.length) continue
        source.lines = linesOf(source.uri, source.id, line.seq, upTo)
        source.at = 0
      }
    },

    /**
     * Returns the newest envelopes of a client. Damaged envelopes are left out. This is safe, because a damaged channel
     * accepts no actions, so a resend to it is refused anyway.
     * @param {string} clientId
     * @param {number} after
     * @param {number} most
     */
    dispatchedBy(clientId, after, most) {
      const unsealed = sql.dispatchedBy.all(clientId, after, most).flatMap(({ channel, ...line }) => {
        const envelope = orDamaged(() => toEnvelope(channel, line))
        return 'damaged' in envelope ? [] : [envelope]
      })
      const others = [...unsealed, ...checkpoints.keptOf(clientId, after, most)].toSorted(
        (a, b) => b.seq - a.seq,
      )
      return segments.dispatchedBy(clientId, after, most, others.slice(0, most)).toReversed()
    },

    /** @param {string} uri */
    creation(uri) {
      const channel = /** @type {Channel | undefined} */ (sql.channel.get(uri))
      if (!channel) return undefined
      const { seq, state } = creationOf(uri, channel)
      return { seq, channel: uri, kind: channel.kind, state }
    },

    upTo() {
      const value = sql.upTo.get()?.value
      // Without the highest used number, no new sequence number is safe to assign.
      if (!Number.isSafeInteger(value)) throw new Damage('its highest number is missing')
      return value
    },

    /** @param {string} key */
    record: (key) => sql.record.get(key)?.text,

    /** @returns {string[]} */
    kinds: () => sql.kinds.all().map(({ kind }) => kind),

    /** @param {string} prefix @returns {RecordChunk[]} */
    records(prefix) {
      /** @type {RecordChunk[]} */
      const chunks = []
      for (let [from, first] = [prefix, 1]; ; first = 0) {
        const { last, marks, text } = sql.recordChunk.get(from, prefix, first)
        if (text === null) return chunks
        chunks.push(
          marks === 0 ? text : sql.records.all(from, prefix, first).map((row) => [row.key, row.text]),
        )
        from = last
      }
    },
  }
}

// A flipped bit can make a NUL, which would end the text of a record here. What is left is then read in hexadecimal, with the mark of
// a checksum in front of it that cannot be right.
const TEXT = `iif(instr(text, char(0)), char(2) || hex(text), text) AS text`

// A thousand records from a key on, or after it. UTF-8 never contains the byte FF, so the upper bound is greater than every
// key with this prefix.
const RECORDS = `SELECT key, ${TEXT} FROM records
  WHERE key >= ?1 AND (key > ?1 OR ?3) AND key < ?2 || CAST(x'ff' AS TEXT) ORDER BY key LIMIT 1000`

/** @param {Database} db */
function statements(db) {
  return {
    id: db.prepare(`SELECT id FROM channels WHERE uri = ?`),
    channel: db.prepare(
      `SELECT id, kind, t.seq AS seq, chain, rows FROM channels LEFT JOIN tails t ON t.channel = id WHERE uri = ?`,
    ),
    unindexed: db.prepare(
      `SELECT uri FROM channels c NOT INDEXED WHERE NOT EXISTS
         (SELECT 1 FROM channels i INDEXED BY sqlite_autoindex_channels_1 WHERE i.uri = c.uri AND i.id = c.id)`,
    ),
    creation: db.prepare(`SELECT seq, state, sum FROM channels WHERE id = ?`),
    head: db.prepare(`SELECT seq, state, chain, sum FROM heads WHERE channel = ?`),
    size: db.prepare(
      `SELECT max(seq) AS last, sum(length(action)) AS size FROM
         (SELECT seq, action FROM envelopes WHERE channel = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?)`,
    ),
    // Finds the last line of a slice. The slice is limited by count and by size, and has at least one line.
    chunk: db.prepare(
      `SELECT max(seq) AS last FROM
         (SELECT seq, size, sum(size) OVER (ORDER BY seq) AS total FROM
           (SELECT seq, length(action) AS size FROM envelopes
            WHERE channel = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?))
       WHERE total - size < ?`,
    ),
    lines: db.prepare(
      `SELECT group_concat(concat_ws(char(31), seq, action, ifnull(origin, ''), sum, chain), char(30) ORDER BY seq) AS text
       FROM envelopes WHERE channel = ? AND seq > ? AND seq <= ?`,
    ),
    dispatchedBy: db.prepare(
      `SELECT e.seq AS seq, action, origin, e.sum AS sum, chain, uri AS channel
       FROM envelopes e JOIN channels ON id = e.channel
       WHERE origin IS NOT NULL AND origin ->> 'clientId' = ? AND e.seq > ? AND typeof(uri) = 'text'
       ORDER BY e.seq DESC LIMIT ?`,
    ),
    // Returns at least the highest sequence number of all envelopes, even if the stored value is damaged.
    upTo: db.prepare(
      `SELECT max(value, (SELECT ifnull(max(seq), 0) FROM envelopes), (SELECT ifnull(max(last), 0) FROM segments)) AS value
       FROM meta WHERE key = 'upTo'`,
    ),
    record: db.prepare(`SELECT ${TEXT} FROM records WHERE key = ?`),
    kinds: db.prepare(`SELECT DISTINCT substr(key, 1, instr(key || '/', '/')) AS kind FROM records`),
    records: db.prepare(RECORDS),
    // `marks` is 0 if no record contains a separator.
    recordChunk: db.prepare(
      `SELECT max(key) AS last,
         sum(instr(key, char(30)) + instr(key, char(31)) + instr(text, char(30)) + instr(text, char(31))) AS marks,
         group_concat(concat_ws(char(31), key, text), char(30) ORDER BY key) AS text
       FROM (${RECORDS})`,
    ),
  }
}
