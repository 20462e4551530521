import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { Run } from '../history.ts'
import type { Event, ClientEvents } from './event.ts'
import type { ChannelLog } from './channel-log.ts'
import type { Violation } from './violation.ts'

/**
 * Checks I5: every dispatched action has exactly one outcome, or its channel is gone, or was not there yet: then the client sends the
 * action again with another number, once the session is created.
 */
export function oneOutcome(
  run: Run,
  { client, events }: ClientEvents,
  logs: ReadonlyMap<Uri, ChannelLog>,
): readonly Violation[] {
  const outcomes = new Map<number, Map<number, Envelope>>()
  const dropped = new Set<Uri>()
  for (const event of events) {
    if (event.what === 'gone') dropped.add(event.channel)
    if (event.what !== 'delivered' || event.envelope.origin?.clientId !== client) continue
    const { clientSeq } = event.envelope.origin
    const found = outcomes.get(clientSeq) ?? new Map<number, Envelope>()
    outcomes.set(clientSeq, found.set(event.envelope.serverSeq, event.envelope))
  }
  return dispatched(events).flatMap(({ clientSeq, channel }): readonly Violation[] => {
    const found = [...(outcomes.get(clientSeq)?.values() ?? [])]
    if (found.length === 1) return []
    const [first, second] = found
    if (first && second) {
      const sentence = `its ${clientSeq} has two outcomes, ${first.serverSeq} and ${second.serverSeq}`
      return [{ rule: 'I5', client, sentence, envelope: second }]
    }
    // If the disk lost data, it may have lost the disposal of the channel. The channel then exists again, although
    // the client was told that it is gone.
    if (dropped.has(channel) && (!logs.has(channel) || run.stored.torn !== undefined)) return []
    const why = dropped.has(channel) ? ', but the channel exists' : ''
    return [{ rule: 'I5', client, sentence: `its ${clientSeq} to ${channel} has no outcome${why}` }]
  })
}

function dispatched(events: readonly Event[]): readonly { clientSeq: number; channel: Uri }[] {
  const waiting = new Map<number, Uri>()
  for (const event of events) {
    if (event.what === 'sent' && event.clientSeq > 0) waiting.set(event.clientSeq, event.channel)
    const isRefused = event.what === 'answered' && event.method === 'createSession' && !event.ok
    if (isRefused)
      for (const [clientSeq, channel] of waiting) if (channel === event.channel) waiting.delete(clientSeq)
  }
  return [...waiting].map(([clientSeq, channel]) => ({ clientSeq, channel }))
}
