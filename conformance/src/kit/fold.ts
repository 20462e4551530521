import type { Envelope, Snapshot } from '@atrium/protocol/channel'
import type { Reduce } from '@atrium/protocol/reduce'
import { kinds } from '@atrium/protocol/channels'
import { reducers } from '@atrium/protocol/reducers'
import { same } from './check.ts'

type Kind = 'root' | 'session' | 'chat'

/** What a snapshot becomes with the envelopes that follow it, up to a number. */
export function fold(
  kind: Kind,
  { resource, state, fromSeq }: Snapshot,
  envelopes: readonly Envelope[],
  upTo = Infinity,
): unknown {
  const later = envelopes.filter(
    ({ channel, serverSeq, rejectionReason }) =>
      channel === resource && serverSeq > fromSeq && serverSeq <= upTo && !rejectionReason,
  )
  return later.reduce((before, { action }) => (reducers[kind] as Reduce<unknown>)(before, action), state)
}

/** Two states of a kind are one, but for what no action can change: that is only ever told in a snapshot. */
export function sameState(kind: Kind, what: string, expected: unknown, came: unknown): void {
  const { derived } = kinds[kind]
  same(what, without(expected, derived), without(came, derived))
}

type Left = { readonly [key: string]: true | number | Left | undefined }

/** `true` leaves a whole key out, a number its bits, a table what is inside it. */
function without(value: unknown, left: object): unknown {
  if (typeof value !== 'object' || value === null) return value
  const kept: Record<string, unknown> = { ...value }
  for (const [key, how] of Object.entries(left as Left)) {
    if (how === true) delete kept[key]
    else if (typeof how === 'number') kept[key] = (Number(kept[key]) & ~how) >>> 0
    else if (how && key in kept) kept[key] = without(kept[key], how)
  }
  return kept
}
