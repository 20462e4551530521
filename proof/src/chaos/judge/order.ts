import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { Run } from '../history.ts'
import type { Event, ClientEvents } from './event.ts'
import { canonical, isRelaxed } from './compare.ts'
import type { ChannelLog } from './channel-log.ts'
import type { Violation } from './violation.ts'

/** Checks I2: a sequence number stands for one envelope, the same for every client and for ever. */
export function oneMeaning({ stored }: Run, clients: readonly ClientEvents[]): readonly Violation[] {
  const meanings = new Map<number, string>()
  const violations: Violation[] = []
  const learn = (envelope: Envelope, client?: string): void => {
    const meaning = meaningOf(envelope)
    const before = meanings.get(envelope.serverSeq) ?? meaning
    meanings.set(envelope.serverSeq, before)
    if (before === meaning) return
    const sentence = `number ${envelope.serverSeq} meant something else before: ${before}`
    violations.push({ rule: 'I2', sentence, envelope, ...(client !== undefined && { client }) })
  }
  for (const { envelopes } of stored.channels) for (const envelope of envelopes) learn(envelope)
  for (const { client, events } of clients)
    for (const event of events) if (event.what === 'delivered') learn(event.envelope, client)
  return violations
}

/**
 * Checks I2, I8: the sequence numbers that a client receives rise, also across links. No snapshot is older than what
 * the client already knew.
 */
export function rising({ client, events }: ClientEvents): readonly Violation[] {
  let seen = 0
  return events.flatMap((event): readonly Violation[] => {
    if (event.what === 'delivered') {
      const { serverSeq } = event.envelope
      const before = seen
      seen = Math.max(seen, serverSeq)
      if (serverSeq > before) return []
      return [
        { rule: 'I2', client, sentence: `${serverSeq} was sent after ${before}`, envelope: event.envelope },
      ]
    }
    if (event.what !== 'subscribed' || !event.snapshot) return []
    const before = seen
    seen = Math.max(seen, event.from)
    if (event.from >= before) return []
    return [{ rule: 'I8', client, sentence: `${event.channel} was shown at ${event.from}, after ${before}` }]
  })
}

/**
 * Checks I2: a link receives every envelope of its subscribed channels, up to the highest number that it received.
 */
export function gapless(
  { client, events }: ClientEvents,
  logs: ReadonlyMap<Uri, ChannelLog>,
): readonly Violation[] {
  return byLink(events).flatMap((link) => {
    const delivered = new Set(
      link.flatMap((event) => (event.what === 'delivered' ? [event.envelope.serverSeq] : [])),
    )
    return spansOf(link).flatMap(({ channel, from, upTo }) => {
      const missed =
        logs
          .get(channel)
          ?.between(from, upTo)
          .filter((seq) => !delivered.has(seq) && !isMerged(logs.get(channel)?.at(seq))) ?? []
      return missed.map((seq): Violation => {
        const envelope = logs.get(channel)?.at(seq)
        const sentence = `received ${channel} up to ${upTo}, but not ${seq}`
        return { rule: 'I2', client, sentence, ...(envelope && { envelope }) }
      })
    })
  })
}

/**
 * Checks I2: a channel that the host has reported as missing does not come back, unless the disk lost data after the
 * report.
 */
export function missed(
  { stored: { torn = 0 } }: Run,
  { client, events }: ClientEvents,
  logs: ReadonlyMap<Uri, ChannelLog>,
): readonly Violation[] {
  return events.flatMap((event): readonly Violation[] => {
    if (event.what !== 'unsubscribed' || !event.missing || event.at < torn || !logs.has(event.channel))
      return []
    return [{ rule: 'I2', client, sentence: `was told that ${event.channel} is missing, but it exists` }]
  })
}

/**
 * Checks I2: the actions that a client first sent on one link are answered there in the order in which they were
 * sent.
 */
export function inSentOrder({ client, events }: ClientEvents): readonly Violation[] {
  const firstLink = new Map<number, number>()
  const place = new Map<number, number>()
  let last = { link: 0, place: -1 }
  const violations: Violation[] = []
  for (const event of events) {
    if (event.what === 'sent' && !firstLink.has(event.clientSeq)) {
      firstLink.set(event.clientSeq, event.link)
      place.set(event.clientSeq, place.size)
    }
    if (event.what !== 'delivered' || event.envelope.origin?.clientId !== client) continue
    const { clientSeq } = event.envelope.origin
    // An action that was first sent on an earlier link may have been accepted there. Its answer may come at any time.
    if (!event.live || firstLink.get(clientSeq) !== event.link) continue
    const at = place.get(clientSeq) ?? 0
    if (last.link === event.link && at < last.place)
      violations.push({
        rule: 'I2',
        client,
        sentence: `its own ${clientSeq} came back out of order`,
        envelope: event.envelope,
      })
    last = { link: event.link, place: at }
  }
  return violations
}

/** A subscription of a link: the number it starts from, and the number up to which every envelope must have arrived. */
interface Span {
  readonly channel: Uri
  readonly from: number
  upTo: number
}

function spansOf(link: readonly Event[]): readonly Span[] {
  const open = new Map<Uri, Span>()
  const spans: Span[] = []
  const reach = (seq: number): void => {
    for (const span of open.values()) span.upTo = Math.max(span.upTo, seq)
  }
  for (const event of link) {
    if (event.what === 'delivered') reach(event.envelope.serverSeq)
    if (event.what === 'unsubscribed') open.delete(event.channel)
    if (event.what !== 'subscribed') continue
    // The host sends a snapshot only after all envelopes up to the snapshot's number.
    if (event.snapshot) reach(event.from)
    const span = { channel: event.channel, from: event.from, upTo: event.from }
    open.set(event.channel, span)
    spans.push(span)
  }
  return spans
}

export function byLink(events: readonly Event[]): readonly (readonly Event[])[] {
  const links = new Map<number, Event[]>()
  for (const event of events) {
    const link = links.get(event.link) ?? []
    link.push(event)
    links.set(event.link, link)
  }
  return [...links.values()]
}

function meaningOf({ channel, action, origin, rejectionReason }: Envelope): string {
  const by = origin && { clientId: origin.clientId, clientSeq: origin.clientSeq }
  const words = isMerged({ channel, action, serverSeq: 0 }) ? action.type : action
  return canonical({ channel, words, by, rejectionReason })
}

/**
 * Whether the host may merge the envelope with others into one, which then has more text than the stored envelope.
 */
function isMerged(envelope: Envelope | undefined): boolean {
  return envelope !== undefined && isRelaxed(envelope)
}
