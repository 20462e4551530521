import type { Run } from '../history.ts'
import { kept, once } from './durable.ts'
import { oneOutcome } from './outcomes.ts'
import { eventsOf } from './event.ts'
import { replicated, listed, rebuilt, shown } from './fold.ts'
import { inSentOrder, linksKeepRules, missed, oneMeaning } from './order.ts'
import { authorised, readable } from './origin.ts'
import { channelLogs } from './channel-log.ts'
import { oneEnd, summariesAgree } from './turns.ts'
import type { Violation } from './violation.ts'

export interface Verdict {
  readonly violations: readonly Violation[]
  readonly histories: number
  /** Number of envelopes: those delivered, counted for each client, plus those on the disk. */
  readonly envelopes: number
}

/** Compares the clients' histories with the disk. Pure: the same run always gets the same verdict. */
export function judge(run: Run): Verdict {
  const clients = run.histories.map(eventsOf)
  const logs = channelLogs(run, clients)
  const violations = [
    ...kept(run, clients, logs),
    ...once(run),
    ...oneMeaning(run, clients),
    ...rebuilt(run, logs),
    ...listed(run),
    ...oneEnd(run, logs),
    ...summariesAgree(run),
    ...authorised(run, clients),
    ...clients.flatMap((each) => [
      ...linksKeepRules(each, logs),
      ...missed(run, each, logs),
      ...inSentOrder(each),
      ...shown(run, each, logs),
      ...replicated(run, each, logs),
      ...oneOutcome(run, each, logs),
      ...readable(each),
    ]),
  ]
  const delivered = clients.flatMap(({ events }) => events).filter(({ what }) => what === 'delivered').length
  const stored = run.stored.channels.reduce((sum, { envelopes }) => sum + envelopes.length, 0)
  return { violations, histories: clients.length, envelopes: delivered + stored }
}
