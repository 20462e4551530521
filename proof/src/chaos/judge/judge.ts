import type { Run } from '../history.ts'
import { kept, once } from './durable.ts'
import { ended } from './ends.ts'
import { witness } from './event.ts'
import { followed, listed, rebuilt, shown } from './fold.ts'
import { gapless, inSentOrder, missed, oneMeaning, rising } from './order.ts'
import { authorised, meantForIt, readable } from './source.ts'
import { pastsOf } from './truth.ts'
import { oneEnd, onePicture } from './turns.ts'
import type { Violation } from './violation.ts'

export interface Verdict {
  readonly violations: readonly Violation[]
  readonly histories: number
  /** Envelopes that were told, counted for each who was, and those on the disk. */
  readonly envelopes: number
}

/** Holds what clients saw against what the disk has. Pure: the same run gets the same verdict. */
export function judge(run: Run): Verdict {
  const witnesses = run.histories.map(witness)
  const pasts = pastsOf(run, witnesses)
  const violations = [
    ...kept(run, witnesses, pasts),
    ...once(run),
    ...oneMeaning(run, witnesses),
    ...rebuilt(run, pasts),
    ...listed(run),
    ...oneEnd(run, pasts),
    ...onePicture(run),
    ...authorised(run, witnesses),
    ...witnesses.flatMap((each) => [
      ...rising(each),
      ...gapless(each, pasts),
      ...missed(run, each, pasts),
      ...inSentOrder(each),
      ...shown(run, each, pasts),
      ...followed(run, each, pasts),
      ...ended(run, each, pasts),
      ...meantForIt(each),
      ...readable(each),
    ]),
  ]
  const told = witnesses.flatMap(({ events }) => events).filter(({ what }) => what === 'told').length
  const stored = run.stored.channels.reduce((sum, { envelopes }) => sum + envelopes.length, 0)
  return { violations, histories: witnesses.length, envelopes: told + stored }
}
