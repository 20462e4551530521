import type { Uri } from '@atrium/protocol/channel'
import { limits } from '@atrium/protocol/limits'
import type { Channel } from '../kernel/log/channel.ts'
import type { SnapshotSent } from '../kernel/clients.ts'
import { envelopeText } from '../kernel/log/entry.ts'
import type { EnvelopeParts } from '../kernel/log/entry.ts'
import type { Log } from '../kernel/log/log.ts'
import type { LogStore, Slice, StoredEnvelope } from '../ports/log.ts'

/** The envelopes of some channels with sequence numbers above `after` and up to `upTo`. */
export interface ReplayRange {
  readonly channels: readonly Channel[]
  readonly after: number
  readonly upTo: number
}

/** Makes the JSON texts of an envelope in the receiver's protocol version. Undefined if the version cannot express it. */
export type EnvelopeEncoder = (channel: Channel, parts: EnvelopeParts) => readonly string[] | undefined

interface ReplayOptions {
  readonly encode?: EnvelopeEncoder
  /**
   * Returns whether the receiver may lack the finished turn (row) that an action names. The action is given as JSON.
   */
  readonly lacksRow?: (channel: Channel, action: string) => boolean
  /** The maximum total length of the texts, in characters. */
  readonly longest?: number
}

/**
 * Returns the envelopes of a range as JSON texts, ordered by sequence number: the stored ones, and those that are
 * never stored (the ephemeral ones) and are still in memory. The store is read only if not all of the stored ones are
 * in memory. Undefined if an ephemeral envelope is no longer in memory, if a stored one was forgotten, if the
 * receiver may lack a turn that an action names, if its version cannot express an envelope, or if the texts are too
 * long.
 */
export async function replay(
  log: Log,
  store: LogStore,
  range: ReplayRange,
  { encode = nativeEnvelope, lacksRow = () => false, longest = limits.replayLength }: ReplayOptions = {},
): Promise<readonly string[] | undefined> {
  const { channels, after, upTo } = range
  const ephemeral = ephemeralTexts(range, encode)
  if (!ephemeral) return undefined
  const recent = log.recentSince(after)
  // Streamed text is delivered before it is durable, so everything must be stored before the store is read.
  if (!recent && !(await log.settled())) return undefined
  const byUri = new Map(channels.map((channel) => [channel.uri, channel]))
  const uris = [...byUri.keys()]
  const stored: NumberedText[] = []
  let length = 0
  for (let next = recent ? sliceOf(recent, byUri, upTo) : store.read(uris, after, upTo); ;) {
    const slice = await next
    // The client gets snapshots instead of a replay with a gap.
    if (slice.forgotten) return undefined
    const last = slice.envelopes.at(-1)?.seq ?? upTo
    // The next slice is requested before this slice is processed, so that both go on at the same time.
    if (slice.more) next = store.read(uris, last, upTo)
    for (const { seq, channel: uri, action, origin } of slice.envelopes) {
      const channel = byUri.get(uri)
      if (channel && lacksRow(channel, action)) {
        next.catch(() => {})
        return undefined
      }
      const texts = channel ? encode(channel, { seq, text: action, origin }) : []
      if (!texts) {
        next.catch(() => {})
        return undefined
      }
      for (const text of texts) {
        stored.push({ seq, text })
        length += text.length
      }
    }
    if (length > longest) {
      next.catch(() => {})
      return undefined
    }
    if (!slice.more) break
  }
  return merged(stored, ephemeral)
}

/**
 * Whether a replay above `lastSeen` can take the place of new snapshots. It can if the client has certainly received the last
 * snapshot that it was sent of each channel.
 */
export function replayable(
  sent: ReadonlyMap<Uri, SnapshotSent>,
  channels: readonly Channel[],
  lastSeen: number,
): boolean {
  return channels.every(({ uri }) => {
    const { fromSeq = Infinity, unsure, extended } = sent.get(uri) ?? {}
    return !extended && (fromSeq < lastSeen || (fromSeq === lastSeen && !unsure))
  })
}

/** The recent envelopes of some channels, in the form in which the store returns a slice. */
async function sliceOf(
  recent: readonly StoredEnvelope[],
  channels: ReadonlyMap<Uri, Channel>,
  upTo: number,
): Promise<Slice> {
  return { envelopes: recent.filter(({ seq, channel }) => seq <= upTo && channels.has(channel)), more: false }
}

const nativeEnvelope: EnvelopeEncoder = (channel, parts) => [envelopeText(channel.label, parts)]

interface NumberedText {
  readonly seq: number
  readonly text: string
}

function ephemeralTexts(
  { channels, after, upTo }: ReplayRange,
  encode: EnvelopeEncoder,
): readonly NumberedText[] | undefined {
  const texts: NumberedText[] = []
  for (const channel of channels) {
    const entries = channel.ephemeralSince(after)
    if (!entries) return undefined
    for (const entry of entries) {
      const encoded = entry.seq <= upTo ? encode(channel, entry) : []
      if (!encoded) return undefined
      texts.push(...encoded.map((text) => ({ seq: entry.seq, text })))
    }
  }
  return texts
}

function merged(stored: readonly NumberedText[], ephemeral: readonly NumberedText[]): readonly string[] {
  const all = ephemeral.length === 0 ? stored : [...stored, ...ephemeral].toSorted((a, b) => a.seq - b.seq)
  return all.map(({ text }) => text)
}
