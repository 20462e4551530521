import type { Envelope, Snapshot } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { Reduce } from '@atrium/protocol/reduce'
import { kinds } from '@atrium/protocol/channels'
import { reducers } from '@atrium/protocol/reducers'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { same } from './check.ts'

interface States {
  readonly root: RootState
  readonly session: SessionState
  readonly chat: ChatState
}

type Kind = keyof States

/**
 * Reduces a snapshot with the later envelopes of its channel. Envelopes with a number above `upTo` are left out. The
 * state in the snapshot is not checked; a rule that does not trust the snapshot checks its shape first.
 */
export function fold<K extends Kind>(
  kind: K,
  { resource, state, fromSeq }: Snapshot,
  envelopes: readonly Envelope[],
  upTo = Infinity,
): States[K] {
  const later = envelopes.filter(
    ({ channel, serverSeq, rejectionReason }) =>
      channel === resource && serverSeq > fromSeq && serverSeq <= upTo && !rejectionReason,
  )
  // The compiler cannot tell that the reducer and the state belong to the same kind K.
  const reduce = reducers[kind] as Reduce<unknown>
  return later.reduce<unknown>((before, { action }) => reduce(before, action), state) as States[K]
}

/** Checks that two states are equal. Derived fields are left out, because they change without an action. */
export function sameState(kind: Kind, what: string, expected: unknown, actual: unknown): void {
  const { derived } = kinds[kind]
  same(what, without(expected, derived), without(actual, derived))
}

type Omitted = { readonly [key: string]: true | Omitted | undefined }

/**
 * Returns the value without the keys in `omitted`. Under a key, `true` removes it; a table names keys to remove
 * inside the key's value.
 */
function without(value: unknown, omitted: object): unknown {
  if (typeof value !== 'object' || value === null) return value
  const kept: Record<string, unknown> = { ...value }
  for (const [key, how] of Object.entries(omitted as Omitted)) {
    if (how === true) delete kept[key]
    else if (how && key in kept) kept[key] = without(kept[key], how)
  }
  return kept
}
