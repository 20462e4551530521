import type { KindName } from '../reducers.ts'
import { versions } from './negotiate.ts'
import type { Version } from './negotiate.ts'
import { listOf, put, shapeOf, textOf } from './shape.ts'
import type { Shape } from './shape.ts'

/** A part of a state that an older version cannot keep equal by actions alone. The next snapshot has it right. */
export interface Gap {
  /** The newest version that has the gap. All older versions have it too, as long as they have the kind. */
  readonly upTo: Version
  /** The oldest version that has the gap. */
  readonly downTo?: Version
  readonly kind: KindName
  /** The part of the state. */
  readonly what: string
  readonly reason: string
  /** The older state without that part. */
  hide(state: Shape): Shape
}

export const gaps: readonly Gap[] = [
  {
    upTo: '0.9.0',
    kind: 'session',
    what: 'the order of `chats`',
    reason: 'only 1.0 has session/chatsReordered; an older client keeps the order of arrival',
    hide: (state) =>
      'chats' in state ? put(state, { chats: sortedBy('resource', listOf(state, 'chats')) }) : state,
  },
]

/** The state without the parts that this version cannot keep equal by actions. Two such states can be compared. */
export function withoutGaps(version: Version, kind: KindName, state: object): object {
  const rank = versions.indexOf(version)
  return gaps
    .filter((gap) => gap.kind === kind)
    .filter(
      ({ upTo, downTo }) => rank <= versions.indexOf(upTo) && rank >= versions.indexOf(downTo ?? '0.1.0'),
    )
    .reduce((left, gap) => gap.hide(left), shapeOf(state))
}

function sortedBy(key: string, list: readonly unknown[]): readonly unknown[] {
  const name = (item: unknown) => textOf(shapeOf(item), key) ?? ''
  return list.toSorted((a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0))
}
