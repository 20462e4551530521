import type { Uri } from '@atrium/protocol/channel'
import type { Run } from '../history.ts'
import type { ClientEvents } from './event.ts'
import { alike, comparable, kindOf } from './compare.ts'
import type { ChannelLog } from './channel-log.ts'
import type { Violation } from './violation.ts'

/**
 * Checks I3: the state that the store rebuilds from its last stored state and the envelopes after it equals the fold
 * of the whole log.
 */
export function rebuilt({ stored }: Run, logs: ReadonlyMap<Uri, ChannelLog>): readonly Violation[] {
  return stored.channels.flatMap(({ uri, state }): readonly Violation[] => {
    const log = logs.get(uri)
    if (!log || comparable(log.kind, state) === comparable(log.kind, log.last)) return []
    return [{ rule: 'I3', sentence: `${uri} is rebuilt to a state that differs from the fold of its log` }]
  })
}

/**
 * Checks I3: the session list, the channels and the root's count agree. The count may leave out unused sessions
 * (I19).
 */
export function listed({ stored }: Run): readonly Violation[] {
  if (stored.damaged.length > 0) return []
  const sessions = stored.channels.filter(({ kind }) => kind === 'session')
  const there = sessions.map(({ uri }) => uri)
  // A used session has a title: the first message sets one.
  const used = sessions.filter(({ state }) => (state as { title?: string }).title !== '').length
  const root = stored.channels.find(({ kind }) => kind === 'root')?.state as
    | { activeSessions?: number }
    | undefined
  const same = there.toSorted().join() === stored.sessions.toSorted().join()
  const counted = root?.activeSessions ?? used
  if (same && counted >= used && counted <= there.length) return []
  const sentence = `the list has ${stored.sessions.length} sessions, the log ${there.length}, the root says ${root?.activeSessions}`
  return [{ rule: 'I3', sentence }]
}

/** Checks I3: every snapshot equals the fold of the log up to the snapshot's number. */
export function shown(
  run: Run,
  { client, events }: ClientEvents,
  logs: ReadonlyMap<Uri, ChannelLog>,
): readonly Violation[] {
  const { torn = 0 } = run.stored
  return events.flatMap((event): readonly Violation[] => {
    if (event.what !== 'subscribed' || !event.snapshot || event.at < torn) return []
    const log = logs.get(event.channel)
    const expected = log?.stateAt(event.from)
    if (!log || expected === undefined) return []
    if (alike(log.kind, event.snapshot.state, expected)) return []
    const sentence = `${event.channel} was shown at ${event.from} in a state that it never had: ${JSON.stringify(event.snapshot.state)}`
    return [{ rule: 'I3', client, sentence }]
  })
}

/** Checks I3: a client that applies the envelopes after a snapshot, across links, gets the host's state. */
export function replicated(
  run: Run,
  { client, events }: ClientEvents,
  logs: ReadonlyMap<Uri, ChannelLog>,
): readonly Violation[] {
  const { torn = 0 } = run.stored
  const replicas = new Map<Uri, { state: unknown; seq: number }>()
  /** Channels whose snapshot or replay came after the disk last lost data. */
  const current = new Set<Uri>()
  const violations: Violation[] = []
  const look = (): void => {
    for (const [uri, { state, seq }] of replicas) {
      const log = current.has(uri) ? logs.get(uri) : undefined
      const expected = log?.stateAt(seq)
      if (!log || expected === undefined || alike(log.kind, state, expected)) continue
      violations.push({
        rule: 'I3',
        client,
        sentence: `its state of ${uri} at ${seq} differs from the log`,
      })
    }
  }
  for (const event of events) {
    if (event.what === 'closed') look()
    if (event.what === 'subscribed' && event.at >= torn) current.add(event.channel)
    if (event.what === 'unsubscribed') replicas.delete(event.channel)
    if (event.what === 'subscribed' && event.snapshot)
      replicas.set(event.channel, { state: event.snapshot.state, seq: event.from })
    if (event.what !== 'delivered' || event.envelope.rejectionReason !== undefined) continue
    const { channel, action, serverSeq: seq } = event.envelope
    const replica = replicas.get(channel)
    const kind = logs.get(channel)?.kind ?? kindOf(channel)
    if (replica && kind) replicas.set(channel, { state: kind.reduce(replica.state, action), seq })
  }
  look()
  return violations
}
