import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepFreeze, stateCases } from '../../test/cases.ts'
import * as v09Oracle from '../../test/oracle-v0-9.ts'
import { actionOf, birthOf, kindNames, scriptOf, shapesOf, stateName, stateOf } from '../../test/traffic.ts'
import type { Action } from '../channel.ts'
import type { Reduce } from '../reduce.ts'
import { kinds } from '../channels.ts'
import { reducers } from '../reducers.ts'
import type { KindName } from '../reducers.ts'
import { v09 } from './v0-9.ts'

/** What must hold for every step, with the older reducer as the oracle. */
const steps = [{ lens: v09, oracle: v09Oracle }]

describe.each(steps)('the step to $lens.version', ({ lens, oracle }) => {
  const fold = (kind: KindName, state: object, action: Action) =>
    lens.actionDown(kind, action).reduce((before, told) => oracle.reduce(kind, before, told), state)

  const expectLaw = (kind: KindName, initial: object, actions: readonly Action[]) => {
    let state = deepFreeze(initial)
    let older = deepFreeze(lens.stateDown(kind, state))
    for (const action of deepFreeze(actions)) {
      state = deepFreeze((reducers[kind] as Reduce<object>)(state, action))
      older = deepFreeze(fold(kind, older, action))
      const expected = unordered(kind, lens.stateDown(kind, state))
      const told = unordered(kind, older)
      // The quick look first: the slow one explains.
      if (!isDeepStrictEqual(told, expected)) expect(told, JSON.stringify(action)).toStrictEqual(expected)
    }
  }

  test.each(kindNames)('[V5] telling is lowering: one action to any %s', (kind) => {
    fc.assert(
      fc.property(stateOf(kind), actionOf(kind), (state, action) => expectLaw(kind, state, [action])),
      { numRuns: 100 },
    )
  })

  test.each(kindNames)('[V5] telling is lowering: the life of a %s', (kind) => {
    fc.assert(
      fc.property(birthOf(kind), scriptOf(kind), (state, script) => expectLaw(kind, state, script)),
      { numRuns: 40 },
    )
  })

  test.each(stateCases())('[V5] telling is lowering: $file: $name', ({ reducer, initial, actions }) => {
    expectLaw(reducer, initial, actions)
  })

  test.each(kindNames)('[V5] the lowering of a %s is plain, and twice is once', (kind) => {
    fc.assert(
      fc.property(stateOf(kind), (state) => {
        const down = lens.stateDown(kind, deepFreeze(state))
        expect(lens.stateDown(kind, down)).toBe(down)
        expect(JSON.parse(JSON.stringify(down))).toStrictEqual(down)
        if (kind !== 'canvas') expect(oracle.problemOf(stateName(kind), down)).toBeUndefined()
      }),
      { numRuns: 50 },
    )
  })

  test.each(kindNames)(
    '[V5] an action of a %s alone says what is told, in no more than its stride',
    (kind) => {
      fc.assert(
        fc.property(actionOf(kind), actionOf(kind), (action, other) => {
          const told = lens.actionDown(kind, deepFreeze(action))
          lens.actionDown(kind, deepFreeze(other))
          expect(lens.actionDown(kind, action)).toStrictEqual(told)
          expect(told.length).toBeLessThanOrEqual(kinds[kind].strides.get(action.type) ?? 1)
          for (const one of told) {
            expect(lens.actionDown(kind, one)[0]).toBe(one)
            expect(oracle.knows(one.type)).toBe(true)
            expect(shapesOf(one.type).map((shape) => oracle.problemOf(shape, one))).toContain(undefined)
          }
        }),
        { numRuns: 100 },
      )
    },
  )
})

/** The order of chats is 1.0's own: a 0.9 peer keeps the one it has seen them come in. */
function unordered(kind: KindName, state: object): object {
  if (kind !== 'session') return state
  const { chats, ...rest } = state as { chats: readonly { resource: string }[] }
  return {
    ...rest,
    chats: chats.toSorted((a, b) => (a.resource < b.resource ? -1 : a.resource > b.resource ? 1 : 0)),
  }
}
