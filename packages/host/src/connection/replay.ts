import type { Uri } from '@atrium/protocol/channel'
import { limits } from '@atrium/protocol/limits'
import type { Channel } from '../log/channel.ts'
import type { SnapshotSent } from '../core/clients.ts'
import { envelopeText } from '../log/entry.ts'
import type { EnvelopeParts } from '../log/entry.ts'
import type { Log } from '../log/log.ts'
import type { LogStore } from '../ports/log.ts'

/**
 * The envelopes of these channels above `after`, up to `upTo`, as JSON texts in number order: what is stored, and what
 * only passed and is still in memory. Nothing when some of that is gone, when its receiver could not follow, or when it is
 * longer than `longest`.
 */
export async function replay(
  log: Log,
  store: LogStore,
  channels: readonly Channel[],
  after: number,
  upTo: number,
  { say = plainly, lacks = () => false, longest = limits.replayLength }: Replayed = {},
): Promise<readonly string[] | undefined> {
  const passed = passedTexts(channels, after, upTo, say)
  if (!passed) return undefined
  // Streamed text may have been told before it was durable: the disk must catch up before it is asked.
  if (!(await log.settled())) return undefined
  const byUri = new Map(channels.map((channel) => [channel.uri, channel]))
  const uris = [...byUri.keys()]
  const stored: Numbered[] = []
  let length = 0
  for (let next = store.read(uris, after, upTo); ;) {
    const slice = await next
    const last = slice.envelopes.at(-1)?.seq ?? upTo
    // The disk is asked for more before this is worked on.
    if (slice.more) next = store.read(uris, last, upTo)
    for (const { seq, channel: uri, action, origin } of slice.envelopes) {
      const channel = byUri.get(uri)
      if (channel && lacks(channel, action)) {
        next.catch(() => {})
        return undefined
      }
      for (const text of channel ? say(channel, { seq, text: action, origin }) : []) {
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
  return merged(stored, passed)
}

/**
 * The channels whose whole past a client may be spared: each was handed to it, and that it has seen this number shows
 * that it has what it was handed, and that alone.
 */
export function replayable(
  handed: ReadonlyMap<Uri, SnapshotSent>,
  channels: readonly Channel[],
  lastSeen: number,
): boolean {
  return channels.every(({ uri }) => {
    const { fromSeq = Infinity, unsure, extended } = handed.get(uri) ?? {}
    return !extended && (fromSeq < lastSeen || (fromSeq === lastSeen && !unsure))
  })
}

interface Replayed {
  readonly say?: Say
  /** Whether its receiver may lack what an action of a channel, as JSON, needs. */
  readonly lacks?: (channel: Channel, action: string) => boolean
  readonly longest?: number
}

/** An envelope of a channel as its receiver is told it. */
export type Say = (channel: Channel, said: EnvelopeParts) => readonly string[]

const plainly: Say = (channel, said) => [envelopeText(channel.label, said)]

interface Numbered {
  readonly seq: number
  readonly text: string
}

function passedTexts(
  channels: readonly Channel[],
  after: number,
  upTo: number,
  say: Say,
): readonly Numbered[] | undefined {
  const texts: Numbered[] = []
  for (const channel of channels) {
    const entries = channel.ephemeralSince(after)
    if (!entries) return undefined
    for (const entry of entries)
      if (entry.seq <= upTo) texts.push(...say(channel, entry).map((text) => ({ seq: entry.seq, text })))
  }
  return texts
}

function merged(stored: readonly Numbered[], passed: readonly Numbered[]): readonly string[] {
  const all = passed.length === 0 ? stored : [...stored, ...passed].toSorted((a, b) => a.seq - b.seq)
  return all.map(({ text }) => text)
}
