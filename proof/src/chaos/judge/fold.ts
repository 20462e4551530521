import type { Uri } from '@atrium/protocol/channel'
import type { Run } from '../history.ts'
import type { Witness } from './event.ts'
import { alike, comparable, kindOf } from './truth.ts'
import type { Past } from './truth.ts'
import type { Violation } from './violation.ts'

/** I3: what is rebuilt from the disk, heads and all, is the fold of the whole log. */
export function rebuilt({ stored }: Run, pasts: ReadonlyMap<Uri, Past>): readonly Violation[] {
  return stored.channels.flatMap(({ uri, state }): readonly Violation[] => {
    const past = pasts.get(uri)
    if (!past || comparable(past.kind, state) === comparable(past.kind, past.last)) return []
    return [{ rule: 'I3', sentence: `${uri} is rebuilt to another state than its log folds to` }]
  })
}

/** I3: the session list, the channels and the count on the root say the same; one that nobody has used is not counted (I19). */
export function listed({ stored }: Run): readonly Violation[] {
  if (stored.damaged.length > 0) return []
  const sessions = stored.channels.filter(({ kind }) => kind === 'session')
  const there = sessions.map(({ uri }) => uri)
  // Whoever uses one names it, with the first message if not before.
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

/** I3: every snapshot is the fold up to its number. */
export function shown(
  run: Run,
  { client, events }: Witness,
  pasts: ReadonlyMap<Uri, Past>,
): readonly Violation[] {
  const { torn = 0 } = run.stored
  return events.flatMap((event): readonly Violation[] => {
    if (event.what !== 'follows' || !event.snapshot || event.at < torn) return []
    const past = pasts.get(event.channel)
    const truth = past?.stateAt(event.from)
    if (!past || truth === undefined) return []
    if (alike(past.kind, event.snapshot.state, truth)) return []
    const sentence = `${event.channel} was shown as of ${event.from} in a state that it never had: ${JSON.stringify(event.snapshot.state)}`
    return [{ rule: 'I3', client, sentence }]
  })
}

/** I3: a snapshot and the envelopes after it, link after link, fold to what the host has. */
export function followed(
  run: Run,
  { client, events }: Witness,
  pasts: ReadonlyMap<Uri, Past>,
): readonly Violation[] {
  const { torn = 0 } = run.stored
  const replicas = new Map<Uri, { state: unknown; seq: number }>()
  /** Handed, or taken up again, since the disk last lost something. */
  const current = new Set<Uri>()
  const violations: Violation[] = []
  const look = (): void => {
    for (const [uri, { state, seq }] of replicas) {
      const past = current.has(uri) ? pasts.get(uri) : undefined
      const truth = past?.stateAt(seq)
      if (!past || truth === undefined || alike(past.kind, state, truth)) continue
      violations.push({
        rule: 'I3',
        client,
        sentence: `its copy of ${uri} as of ${seq} differs from the log`,
      })
    }
  }
  for (const event of events) {
    if (event.what === 'shut') look()
    if (event.what === 'follows' && event.at >= torn) current.add(event.channel)
    if (event.what === 'leaves') replicas.delete(event.channel)
    if (event.what === 'follows' && event.snapshot)
      replicas.set(event.channel, { state: event.snapshot.state, seq: event.from })
    if (event.what !== 'told' || event.envelope.rejectionReason !== undefined) continue
    const { channel, action, serverSeq: seq } = event.envelope
    const replica = replicas.get(channel)
    const kind = pasts.get(channel)?.kind ?? kindOf(channel)
    if (replica && kind) replicas.set(channel, { state: kind.reduce(replica.state, action), seq })
  }
  look()
  return violations
}
