import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { Run } from '../history.ts'
import type { Event, Witness } from './event.ts'
import type { Past } from './truth.ts'
import type { Violation } from './violation.ts'

/** I5: everything a client dispatched came to exactly one end, or the channel it was for is no more. */
export function ended(
  run: Run,
  { client, events }: Witness,
  pasts: ReadonlyMap<Uri, Past>,
): readonly Violation[] {
  const ends = new Map<number, Map<number, Envelope>>()
  const givenUp = new Set<Uri>()
  for (const event of events) {
    if (event.what === 'gone') givenUp.add(event.channel)
    if (event.what !== 'told' || event.envelope.origin?.clientId !== client) continue
    const { clientSeq } = event.envelope.origin
    const found = ends.get(clientSeq) ?? new Map<number, Envelope>()
    ends.set(clientSeq, found.set(event.envelope.serverSeq, event.envelope))
  }
  return dispatched(events).flatMap(({ clientSeq, channel }): readonly Violation[] => {
    const found = [...(ends.get(clientSeq)?.values() ?? [])]
    if (found.length === 1) return []
    const [first, second] = found
    if (first && second) {
      const sentence = `its ${clientSeq} ended twice, as ${first.serverSeq} and as ${second.serverSeq}`
      return [{ rule: 'I5', client, sentence, envelope: second }]
    }
    // A disk that lost the end of a channel brings it back.
    if (givenUp.has(channel) && (!pasts.has(channel) || run.stored.torn !== undefined)) return []
    const why = givenUp.has(channel) ? ', and its channel is there' : ''
    return [{ rule: 'I5', client, sentence: `its ${clientSeq} to ${channel} never ended${why}` }]
  })
}

function dispatched(events: readonly Event[]): readonly { clientSeq: number; channel: Uri }[] {
  const first = new Map<number, Uri>()
  for (const event of events)
    if (event.what === 'sent' && event.clientSeq > 0 && !first.has(event.clientSeq))
      first.set(event.clientSeq, event.channel)
  return [...first].map(([clientSeq, channel]) => ({ clientSeq, channel }))
}
