import type { Envelope, Uri } from '@atrium/protocol/channel'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { Run } from '../history.ts'
import type { Witness } from './event.ts'
import { isText } from './truth.ts'
import type { Past } from './truth.ts'
import type { Violation } from './violation.ts'

/** I1: whatever anybody was told, and every change that was answered, is on the disk at the end. */
export function kept(
  run: Run,
  witnesses: readonly Witness[],
  pasts: ReadonlyMap<Uri, Past>,
): readonly Violation[] {
  const { torn = 0 } = run.stored
  const excused = new Set([
    ...askedFor('disposeSession', witnesses).flatMap((uri) => [uri, defaultChatUri(uri)]),
    ...run.stored.damaged.map(({ uri }) => uri),
  ])
  return witnesses.flatMap(({ client, events }) =>
    events.flatMap((event): readonly Violation[] => {
      if (event.at < torn) return []
      if (event.what === 'told') {
        // A crash may take text that nobody could rely on yet (I8).
        if (isText(event.envelope)) return []
        const sentence = lost(event.envelope, client, pasts, excused)
        return sentence === undefined ? [] : [{ rule: 'I1', client, sentence, envelope: event.envelope }]
      }
      if (event.what !== 'answered' || !event.ok) return []
      const there = run.stored.sessions.includes(event.channel)
      if (event.method === 'createSession' && !there && !excused.has(event.channel))
        return [{ rule: 'I1', client, sentence: `${event.channel} was created, and is not there` }]
      if (event.method === 'disposeSession' && (there || pasts.has(event.channel)))
        return [{ rule: 'I1', client, sentence: `${event.channel} was disposed of, and is there` }]
      return []
    }),
  )
}

/** I6: a client's action is applied once. `clientSeq` 0 is no number. */
export function once({ stored }: Run): readonly Violation[] {
  const applied = new Map<string, number>()
  return stored.channels
    .flatMap(({ envelopes }) => envelopes)
    .flatMap((envelope): readonly Violation[] => {
      const { origin, serverSeq } = envelope
      if (!origin || origin.clientSeq === 0) return []
      const key = `${origin.clientSeq} of ${origin.clientId}`
      const before = applied.get(key)
      applied.set(key, serverSeq)
      if (before === undefined) return []
      return [{ rule: 'I6', sentence: `${key} was applied as ${before} and as ${serverSeq}`, envelope }]
    })
}

export function askedFor(method: string, witnesses: readonly Witness[]): readonly Uri[] {
  return witnesses.flatMap(({ events }) =>
    events.flatMap((event) => (event.what === 'asked' && event.method === method ? [event.channel] : [])),
  )
}

/** The number in "already accepted as 12". */
const acceptedAs = (reason = ''): number | undefined => {
  const found = /^already accepted as (\d+)$/.exec(reason)?.[1]
  return found === undefined ? undefined : Number(found)
}

function lost(
  { channel, serverSeq, action, origin, rejectionReason }: Envelope,
  client: string,
  pasts: ReadonlyMap<Uri, Past>,
  excused: ReadonlySet<Uri>,
): string | undefined {
  const seq = rejectionReason === undefined ? serverSeq : acceptedAs(rejectionReason)
  if (seq === undefined) return undefined
  const past = pasts.get(channel)
  if (!past) return excused.has(channel) ? undefined : `${channel} is gone, and nobody disposed of it`
  const found = past.at(seq)
  if (found && (!origin || found.origin?.clientSeq === origin.clientSeq)) return undefined
  const own = origin?.clientId === client
  return own && past.idle(seq, action) ? undefined : `${seq} was told, and is not in the log`
}
