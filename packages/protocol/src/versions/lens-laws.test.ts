import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepFreeze, reducerOf, stateCases } from '../../test/cases.ts'
import * as v09Oracle from '../../test/oracle-v0-9.ts'
import {
  actionOf,
  newStateOf,
  kindNames,
  scriptOf,
  shapesOf,
  stateName,
  stateOf,
} from '../../test/random-actions.ts'
import { trials } from '../../test/search.ts'
import type { Action } from '../channel.ts'
import { kinds } from '../channels.ts'
import { strideOf } from '../kind.ts'
import type { KindName } from '../reducers.ts'
import { v09 } from './steps/v0-9.ts'

/** Each lens, with the reducer of the older version as the oracle. */
const lenses = [{ lens: v09, oracle: v09Oracle }]

describe.each(lenses)('the lens to $lens.version', ({ lens, oracle }) => {
  const fold = (kind: KindName, state: object, action: Action) =>
    lens.actionDown(kind, action).reduce((before, older) => oracle.reduce(kind, before, older), state)

  const expectLaw = (kind: KindName, initial: object, actions: readonly Action[]) => {
    let state = deepFreeze(initial)
    let older = deepFreeze(lens.stateDown(kind, state))
    for (const action of deepFreeze(actions)) {
      state = deepFreeze(reducerOf(kind)(state, action))
      older = deepFreeze(fold(kind, older, action))
      const expected = unordered(kind, lens.stateDown(kind, state))
      const actual = unordered(kind, older)
      // The fast comparison runs first; the slow one prints the difference.
      if (!isDeepStrictEqual(actual, expected)) expect(actual, JSON.stringify(action)).toStrictEqual(expected)
    }
  }

  test.each(kindNames)('[V5.1] [V5] the law holds for one action on any state of a %s', (kind) => {
    fc.assert(
      fc.property(stateOf(kind), actionOf(kind), (state, action) => expectLaw(kind, state, [action])),
      { numRuns: trials(100, 25) },
    )
  })

  test.each(kindNames)('[V5] the law holds for many actions on a new %s', (kind) => {
    fc.assert(
      fc.property(newStateOf(kind), scriptOf(kind), (state, script) => expectLaw(kind, state, script)),
      { numRuns: trials(40, 10) },
    )
  })

  test.each(stateCases())('[V5] the law holds for $file: $name', ({ reducer, initial, actions }) => {
    expectLaw(reducer, initial, actions)
  })

  test.each(kindNames)(
    '[V5.3] [V5] the older state of a %s is valid JSON of that version, and stable',
    (kind) => {
      fc.assert(
        fc.property(stateOf(kind), (state) => {
          const down = lens.stateDown(kind, deepFreeze(state))
          expect(lens.stateDown(kind, down)).toBe(down)
          expect(JSON.parse(JSON.stringify(down))).toStrictEqual(down)
          if (kind !== 'canvas') expect(oracle.problemOf(stateName(kind), down)).toBeUndefined()
        }),
        { numRuns: trials(50, 15) },
      )
    },
  )

  test.each(kindNames)(
    '[V5.2] [V5.4] [V5] the older form of an action of a %s depends on that action alone, and fits into its stride',
    (kind) => {
      fc.assert(
        fc.property(actionOf(kind), actionOf(kind), (action, other) => {
          const older = lens.actionDown(kind, deepFreeze(action))
          lens.actionDown(kind, deepFreeze(other))
          expect(lens.actionDown(kind, action)).toStrictEqual(older)
          expect(older.length).toBeLessThanOrEqual(strideOf(kinds[kind], {}, action))
          for (const one of older) {
            expect(lens.actionDown(kind, one)[0]).toBe(one)
            expect(oracle.knows(one.type)).toBe(true)
            expect(shapesOf(one.type).map((shape) => oracle.problemOf(shape, one))).toContain(undefined)
          }
        }),
        { numRuns: trials(100, 25) },
      )
    },
  )
})

/** Sorts the chats of a session, because only 1.0 can reorder them: a 0.9 peer keeps the order of arrival. */
function unordered(kind: KindName, state: object): object {
  if (kind !== 'session') return state
  const { chats, ...rest } = state as { chats: readonly { resource: string }[] }
  return {
    ...rest,
    chats: chats.toSorted((a, b) => (a.resource < b.resource ? -1 : a.resource > b.resource ? 1 : 0)),
  }
}
