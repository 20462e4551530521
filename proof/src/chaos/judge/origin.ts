import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import type { Run } from '../history.ts'
import { requestsFor } from './durable.ts'
import type { ClientEvents } from './event.ts'
import { canonical, kindOf } from './compare.ts'
import type { Violation } from './violation.ts'

/**
 * Checks I9: every envelope is on a channel that a client requested. It was dispatched by the client that it names,
 * or is an action of the host.
 */
export function authorised({ stored }: Run, clients: readonly ClientEvents[]): readonly Violation[] {
  const sent = firstSent(clients)
  const sessions = requestsFor('createSession', clients)
  const chats = stored.channels.filter(({ kind }) => kind === 'chat').map(({ uri }) => uri)
  const created = new Set([rootUri, ...sessions, ...sessions.map(defaultChatUri), ...chats])
  const objection = (envelope: Envelope, at = Infinity): string | undefined => {
    const { channel, action, origin } = envelope
    if (!created.has(channel)) return `no client requested ${channel}`
    if (!origin) {
      const kind = kindOf(channel)
      return kind && !kind.actions.has(action.type) ? `the host cannot send ${action.type}` : undefined
    }
    // The log has every action as the newest version of AHP writes it, which differs from what a client of an older
    // version sent. The states of such clients are compared instead.
    if (origin.clientId.startsWith('older-')) return undefined
    const sentAt = sent.get(keyOf(origin.clientId, origin.clientSeq, channel, action))
    return sentAt !== undefined && sentAt <= at ? undefined : `${origin.clientId} never dispatched it`
  }
  const onDisk = stored.channels.flatMap(({ envelopes }) => envelopes.map((envelope) => ({ envelope })))
  const delivered = clients.flatMap(({ client, events }) =>
    events.flatMap((event) =>
      event.what === 'delivered' ? [{ client, at: event.at, envelope: event.envelope }] : [],
    ),
  )
  return [...onDisk, ...delivered].flatMap((seen: { envelope: Envelope; client?: string; at?: number }) => {
    const sentence = objection(seen.envelope, seen.at)
    if (sentence === undefined) return []
    const { client, envelope } = seen
    return [{ rule: 'I9' as const, sentence, envelope, ...(client !== undefined && { client }) }]
  })
}

/** Checks R3: every frame is a JSON message. */
export function readable({ client, events }: ClientEvents): readonly Violation[] {
  return events.flatMap((event): readonly Violation[] =>
    event.what === 'unreadable'
      ? [{ rule: 'R3', client, sentence: `received a frame that is not JSON: ${event.text}` }]
      : [],
  )
}

/** Returns the time each action was first sent. */
function firstSent(clients: readonly ClientEvents[]): ReadonlyMap<string, number> {
  const sent = new Map<string, number>()
  for (const { client, events } of clients)
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
