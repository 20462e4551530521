import type { Envelope, Uri } from '@atrium/protocol/channel'
import { defaultChatUri } from '@atrium/protocol/uri'
import { appliedTwice } from '../../judge/rules.ts'
import type { Run } from '../history.ts'
import type { ClientEvents } from './event.ts'
import { isRelaxed } from './compare.ts'
import type { ChannelLog } from './channel-log.ts'
import type { Violation } from './violation.ts'

/**
 * Checks I1: every envelope that a client received is on the disk at the end. So is every creation and disposal of a
 * session that the host has confirmed.
 */
export function kept(
  run: Run,
  clients: readonly ClientEvents[],
  logs: ReadonlyMap<Uri, ChannelLog>,
): readonly Violation[] {
  const { torn = 0 } = run.stored
  const excused = new Set([
    ...requestsFor('disposeSession', clients).flatMap((uri) => [uri, defaultChatUri(uri)]),
    ...run.stored.damaged.map(({ uri }) => uri),
  ])
  return clients.flatMap(({ client, events }) =>
    events.flatMap((event): readonly Violation[] => {
      if (event.at < torn) return []
      if (event.what === 'delivered') {
        // A crash may lose text that was sent before it was durable (I8).
        if (isRelaxed(event.envelope)) return []
        const sentence = lost(event.envelope, client, logs, excused)
        return sentence === undefined ? [] : [{ rule: 'I1', client, sentence, envelope: event.envelope }]
      }
      if (event.what !== 'answered' || !event.ok) return []
      const there = run.stored.sessions.includes(event.channel)
      if (event.method === 'createSession' && !there && !excused.has(event.channel))
        return [{ rule: 'I1', client, sentence: `${event.channel} was created, but does not exist` }]
      if (event.method === 'disposeSession' && (there || logs.has(event.channel)))
        return [{ rule: 'I1', client, sentence: `${event.channel} was disposed, but still exists` }]
      return []
    }),
  )
}

/** Checks I6: a client's action is applied at most once. */
export function once({ stored }: Run): readonly Violation[] {
  const log = stored.channels.flatMap(({ envelopes }) =>
    envelopes.map((envelope) => ({ seq: envelope.serverSeq, origin: envelope.origin, envelope })),
  )
  return [...appliedTwice(log)].map(({ action: { seq, envelope }, before, key }): Violation => {
    return { rule: 'I6', sentence: `${key} was applied as ${before} and as ${seq}`, envelope }
  })
}

export function requestsFor(method: string, clients: readonly ClientEvents[]): readonly Uri[] {
  return clients.flatMap(({ events }) =>
    events.flatMap((event) => (event.what === 'requested' && event.method === method ? [event.channel] : [])),
  )
}

/** Returns the number in "already accepted as 12". */
const acceptedAs = (reason = ''): number | undefined => {
  const found = /^already accepted as (\d+)$/.exec(reason)?.[1]
  return found === undefined ? undefined : Number(found)
}

function lost(
  { channel, serverSeq, action, origin, rejectionReason }: Envelope,
  client: string,
  logs: ReadonlyMap<Uri, ChannelLog>,
  excused: ReadonlySet<Uri>,
): string | undefined {
  const seq = rejectionReason === undefined ? serverSeq : acceptedAs(rejectionReason)
  if (seq === undefined) return undefined
  const log = logs.get(channel)
  if (!log) return excused.has(channel) ? undefined : `${channel} is gone, but nobody disposed it`
  const found = log.at(seq)
  if (found && (!origin || found.origin?.clientSeq === origin.clientSeq)) return undefined
  const own = origin?.clientId === client
  return own && log.mayBeUnchanged(seq, action) ? undefined : `${seq} was sent, but is not in the log`
}
