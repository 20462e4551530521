import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import type { Run } from '../history.ts'
import { askedFor } from './durable.ts'
import type { Witness } from './event.ts'
import { byLink } from './order.ts'
import { canonical, kindOf } from './truth.ts'
import type { Violation } from './violation.ts'

/** I9: every envelope was dispatched by the client it names, or is the host's to say, on a channel somebody asked for. */
export function authorised({ stored }: Run, witnesses: readonly Witness[]): readonly Violation[] {
  const sent = firstSent(witnesses)
  const sessions = askedFor('createSession', witnesses)
  const chats = stored.channels.filter(({ kind }) => kind === 'chat').map(({ uri }) => uri)
  const created = new Set([rootUri, ...sessions, ...sessions.map(defaultChatUri), ...chats])
  const phantom = (envelope: Envelope, at = Infinity): string | undefined => {
    const { channel, action, origin } = envelope
    if (!created.has(channel)) return `nobody asked for ${channel}`
    if (!origin) {
      const kind = kindOf(channel)
      return kind && !kind.actions.has(action.type) ? `the host cannot say ${action.type}` : undefined
    }
    const wish = sent.get(keyOf(origin.clientId, origin.clientSeq, channel, action))
    return wish !== undefined && wish <= at ? undefined : `${origin.clientId} never dispatched it`
  }
  const onDisk = stored.channels.flatMap(({ envelopes }) => envelopes.map((envelope) => ({ envelope })))
  const told = witnesses.flatMap(({ client, events }) =>
    events.flatMap((event) =>
      event.what === 'told' ? [{ client, at: event.at, envelope: event.envelope }] : [],
    ),
  )
  return [...onDisk, ...told].flatMap((seen: { envelope: Envelope; client?: string; at?: number }) => {
    const sentence = phantom(seen.envelope, seen.at)
    if (sentence === undefined) return []
    const { client, envelope } = seen
    return [{ rule: 'I9' as const, sentence, envelope, ...(client !== undefined && { client }) }]
  })
}

/** I9: a link is told of what it follows and what it said itself; refusals are for whoever is refused. */
export function meantForIt({ client, events }: Witness): readonly Violation[] {
  return byLink(events).flatMap((link) => {
    const known = new Set<Uri>()
    return link.flatMap((event): readonly Violation[] => {
      if (event.what === 'follows') known.add(event.channel)
      if (event.what !== 'told' || event.envelope.origin?.clientId === client) return []
      const { channel, rejectionReason } = event.envelope
      if (known.has(channel) && rejectionReason === undefined) return []
      const sentence =
        rejectionReason === undefined ? `does not follow ${channel}` : 'was told the refusal of another'
      return [{ rule: 'I9', client, sentence, envelope: event.envelope }]
    })
  })
}

/** R3: every frame is a message. */
export function readable({ client, events }: Witness): readonly Violation[] {
  return events.flatMap((event): readonly Violation[] =>
    event.what === 'garbled'
      ? [{ rule: 'R3', client, sentence: `was sent what is no JSON: ${event.text}` }]
      : [],
  )
}

/** When each wish was first sent. */
function firstSent(witnesses: readonly Witness[]): ReadonlyMap<string, number> {
  const sent = new Map<string, number>()
  for (const { client, events } of witnesses)
    for (const event of events) {
      if (event.what !== 'sent') continue
      const key = keyOf(client, event.clientSeq, event.channel, event.action)
      sent.set(key, Math.min(event.at, sent.get(key) ?? Infinity))
    }
  return sent
}

function keyOf(client: string, clientSeq: number, channel: Uri, action: Action): string {
  return canonical([client, clientSeq, channel, action])
}
