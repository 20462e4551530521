import { activityMask } from '../status.ts'
import { at, each, objectChange, omit } from './shape.ts'
import type { Shape } from './shape.ts'

/**
 * The gaps of versions whose session contains its summary (up to 0.4) and its turns (up to 0.3). They are rows of the
 * table of gaps.
 */
export const sessionGaps = [
  {
    upTo: '0.4.0',
    kind: 'session',
    what: '`summary.workingDirectory`',
    reason: 'no action changes a working directory up to 0.6',
    hide: (state: Shape) => at(state, 'summary', without('workingDirectory')),
  },
  {
    upTo: '0.4.0',
    downTo: '0.4.0',
    kind: 'session',
    what: 'the activity in `summary.status`',
    reason: 'no action of 0.4 changes it; the notifications about the session list tell it',
    hide: (state: Shape) => at(state, 'summary', objectChange(withoutActivity)),
  },
  {
    upTo: '0.3.0',
    kind: 'session',
    what: 'the `_meta` of a tool call',
    reason: 'up to 0.3 a tool call keeps the `_meta` of its start; later actions cannot replace it',
    hide: (state: Shape) =>
      at(at(state, 'turns', each(withoutCallMeta)), 'activeTurn', objectChange(withoutCallMeta)),
  },
] as const

function withoutCallMeta(turn: Shape): Shape {
  return at(
    turn,
    'responseParts',
    each((part) => at(part, 'toolCall', without('_meta'))),
  )
}

function withoutActivity(summary: Shape): Shape {
  return at(summary, 'status', (status) => (Number(status) & ~activityMask) >>> 0)
}

function without(key: string): (value: unknown) => unknown {
  return objectChange((value) => omit(value, key))
}
