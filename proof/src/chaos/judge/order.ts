import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { Run } from '../history.ts'
import type { Event, Witness } from './event.ts'
import { canonical, isText } from './truth.ts'
import type { Past } from './truth.ts'
import type { Violation } from './violation.ts'

/** I2: a number means one envelope, for everybody and for ever. */
export function oneMeaning({ stored }: Run, witnesses: readonly Witness[]): readonly Violation[] {
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
  for (const { client, events } of witnesses)
    for (const event of events) if (event.what === 'told') learn(event.envelope, client)
  return violations
}

/** I2, I8: what one client is told has rising numbers, link after link, and no state is older than what it knew. */
export function rising({ client, events }: Witness): readonly Violation[] {
  let seen = 0
  return events.flatMap((event): readonly Violation[] => {
    if (event.what === 'told') {
      const { serverSeq } = event.envelope
      const before = seen
      seen = Math.max(seen, serverSeq)
      if (serverSeq > before) return []
      return [
        { rule: 'I2', client, sentence: `${serverSeq} was told after ${before}`, envelope: event.envelope },
      ]
    }
    if (event.what !== 'follows' || !event.snapshot) return []
    const before = seen
    seen = Math.max(seen, event.from)
    if (event.from >= before) return []
    return [
      { rule: 'I8', client, sentence: `${event.channel} was shown as of ${event.from}, after ${before}` },
    ]
  })
}

/** I2: of what a link follows it is told everything, up to the last it was told at all. */
export function gapless({ client, events }: Witness, pasts: ReadonlyMap<Uri, Past>): readonly Violation[] {
  return byLink(events).flatMap((link) => {
    const told = new Set(link.flatMap((event) => (event.what === 'told' ? [event.envelope.serverSeq] : [])))
    return spansOf(link).flatMap(({ channel, from, upTo }) => {
      const missed =
        pasts
          .get(channel)
          ?.between(from, upTo)
          .filter((seq) => !told.has(seq) && !isMerged(pasts.get(channel)?.at(seq))) ?? []
      return missed.map((seq): Violation => {
        const envelope = pasts.get(channel)?.at(seq)
        const sentence = `was told up to ${upTo} of ${channel}, and not ${seq}`
        return { rule: 'I2', client, sentence, ...(envelope && { envelope }) }
      })
    })
  })
}

/** I2: what is called missing does not come back, unless the disk forgot that it went. */
export function missed(
  { stored: { torn = 0 } }: Run,
  { client, events }: Witness,
  pasts: ReadonlyMap<Uri, Past>,
): readonly Violation[] {
  return events.flatMap((event): readonly Violation[] => {
    if (event.what !== 'leaves' || !event.missing || event.at < torn || !pasts.has(event.channel)) return []
    return [{ rule: 'I2', client, sentence: `was told that ${event.channel} is missing, and it is there` }]
  })
}

/** I2: what a link sends for the first time comes back, accepted or refused, in the order it was sent. */
export function inSentOrder({ client, events }: Witness): readonly Violation[] {
  const firstLink = new Map<number, number>()
  const place = new Map<number, number>()
  let last = { link: 0, place: -1 }
  const violations: Violation[] = []
  for (const event of events) {
    if (event.what === 'sent' && !firstLink.has(event.clientSeq)) {
      firstLink.set(event.clientSeq, event.link)
      place.set(event.clientSeq, place.size)
    }
    if (event.what !== 'told' || event.envelope.origin?.clientId !== client) continue
    const { clientSeq } = event.envelope.origin
    // What was sent on an earlier link may have been accepted there, and comes back when it comes.
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

/** Where a link followed a channel: from which number, and up to which it was surely told everything. */
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
    if (event.what === 'told') reach(event.envelope.serverSeq)
    if (event.what === 'leaves') open.delete(event.channel)
    if (event.what !== 'follows') continue
    // A state at a number stands behind everything up to it.
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

/** What stands for others that came before it may have more words than its own. */
function isMerged(envelope: Envelope | undefined): boolean {
  return envelope !== undefined && isText(envelope)
}
