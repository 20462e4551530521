import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { Run } from '../history.ts'
import type { Event, ClientEvents } from './event.ts'
import type { ChannelLog } from './channel-log.ts'
import type { Violation } from './violation.ts'
import { LinkRules, Meanings } from '../../judge/link-rules.ts'

/** Checks I2: a sequence number stands for one envelope, the same for every client and for ever. */
export function oneMeaning({ stored }: Run, clients: readonly ClientEvents[]): readonly Violation[] {
  const meanings = new Meanings()
  const learn = (envelope: Envelope, client?: string): readonly Violation[] => {
    const before = meanings.conflict(envelope)
    if (before === undefined) return []
    const sentence = `number ${envelope.serverSeq} meant something else before: ${before}`
    return [{ rule: 'I2', sentence, envelope, ...(client !== undefined && { client }) }]
  }
  return [
    ...stored.channels.flatMap(({ envelopes }) => envelopes.flatMap((envelope) => learn(envelope))),
    ...clients.flatMap(({ client, events }) =>
      events.flatMap((event) => (event.what === 'delivered' ? learn(event.envelope, client) : [])),
    ),
  ]
}

/** Checks the rules of each link of a client. Its numbers rise also across links. */
export function linksKeepRules(
  { client, events }: ClientEvents,
  logs: ReadonlyMap<Uri, ChannelLog>,
): readonly Violation[] {
  const violations: Violation[] = []
  const facts = {
    clientId: client,
    // The host may merge relaxed envelopes into one, so not each of them is delivered.
    missed: (channel: Uri, after: number, before: number) => logs.get(channel)?.strictBetween(after, before),
    fail: (rule: 'I2' | 'I8' | 'I9', sentence: string, envelope?: Envelope) =>
      void violations.push({ rule, client, sentence, ...(envelope && { envelope }) }),
  }
  let last = 0
  for (const link of byLink(events)) {
    const rules = new LinkRules(facts, last)
    for (const event of link) {
      if (event.what === 'subscribed' && event.snapshot) {
        // The host sends a snapshot only after all envelopes up to the snapshot's number.
        rules.complete(event.from + 1, [event.channel])
        rules.shown(event.channel, event.from)
      } else if (event.what === 'subscribed') rules.resumed(event.channel, event.from)
      if (event.what === 'unsubscribed') {
        rules.complete(rules.last + 1, [event.channel])
        rules.unsubscribed(event.channel)
      }
      if (event.what !== 'delivered') continue
      rules.delivered(event.envelope)
      if (event.envelope.rejectionReason === undefined)
        rules.reached(event.envelope.channel, event.envelope.serverSeq)
    }
    rules.complete(rules.last + 1)
    last = rules.last
  }
  return violations
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

function byLink(events: readonly Event[]): readonly (readonly Event[])[] {
  const links = new Map<number, Event[]>()
  for (const event of events) {
    const link = links.get(event.link) ?? []
    link.push(event)
    links.set(event.link, link)
  }
  return [...links.values()]
}
