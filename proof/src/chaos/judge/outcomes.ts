import type { Uri } from '@atrium/protocol/channel'
import { Outcomes } from '../../judge/outcomes.ts'
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
  const outcomes = new Outcomes()
  const dropped = new Set<Uri>()
  const second = events.flatMap((event): readonly Violation[] => {
    if (event.what === 'gone') dropped.add(event.channel)
    if (event.what !== 'delivered' || event.envelope.origin?.clientId !== client) return []
    const { origin, serverSeq } = event.envelope
    const sentence = outcomes.problem(origin.clientSeq, serverSeq)
    return sentence === undefined ? [] : [{ rule: 'I5', client, sentence, envelope: event.envelope }]
  })
  const none = dispatched(events).flatMap(({ clientSeq, channel }): readonly Violation[] => {
    if (outcomes.has(clientSeq)) return []
    // If the disk lost data, it may have lost the disposal of the channel. The channel then exists again, although
    // the client was told that it is gone.
    if (dropped.has(channel) && (!logs.has(channel) || run.stored.torn !== undefined)) return []
    const why = dropped.has(channel) ? ', but the channel exists' : ''
    return [{ rule: 'I5', client, sentence: `its ${clientSeq} to ${channel} has no outcome${why}` }]
  })
  return [...second, ...none]
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
