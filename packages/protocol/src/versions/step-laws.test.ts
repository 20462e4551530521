import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepFreeze, soundCases } from '../../test/cases.ts'
import { expectLaw, hosted, hostedAction } from '../../test/law.ts'
import type { Judged, Reduce } from '../../test/law.ts'
import { actionOf, kindNames, newStateOf, scriptOf, stateOf } from '../../test/random-actions.ts'
import { trials } from '../../test/search.ts'
import type { Action } from '../channel.ts'
import { kinds } from '../channels.ts'
import { strideOf } from '../kind.ts'
import { oracle } from '../oracles/oracle.ts'
import type { KindName } from '../reducers.ts'
import { chain } from './chain.ts'
import { ContextMissing, rebuild } from './lens.ts'
import type { Lens } from './lens.ts'
import type { Version } from './negotiate.ts'
import { v050 } from './steps/v0-5-0.ts'
import { v051 } from './steps/v0-5-1.ts'
import { v052 } from './steps/v0-5-2.ts'
import { v06 } from './steps/v0-6.ts'
import { v07 } from './steps/v0-7.ts'
import { v08 } from './steps/v0-8.ts'
import { v09 } from './steps/v0-9.ts'

/** The steps to versions in which a session and a chat are what they are in 1.0. */
const steps: readonly Lens[] = [v08, v07, v06, v052, v051, v050]
const viewer = 'a'

/** A step alone, or the whole way from 1.0 (`above` is then absent). */
interface Case extends Judged {
  readonly name: string
  /** The lens that makes values of the newer version from those of 1.0. */
  readonly above: Lens | undefined
}

const cases: readonly Case[] = steps.flatMap((lens, at) => {
  const above = chain([v09, ...steps.slice(0, at)])
  const whole = chain([v09, ...steps.slice(0, at + 1)])
  const older = reducer(lens.version)
  return [
    { name: `${above.version} to ${lens.version}`, lens, newer: reducer(above.version), older, above },
    { name: `1.0.0 to ${lens.version}`, lens: whole, newer: reducer('1.0.0'), older, above: undefined },
  ]
})

function reducer(version: Version): Reduce {
  return (kind, state, action) => oracle(version)[kind]?.(state, action, 9999) ?? state
}

/** The state and the actions in the newer version of the case. */
function begun({ above }: Case, kind: KindName, state: object, actions: readonly Action[]) {
  if (!above) return { initial: state, lowered: actions }
  const native = reducer('1.0.0')
  let before = state
  const lowered = actions.flatMap((action) => {
    const after = native(kind, before, action)
    const made = above.actionDown(kind, action, { viewer, before, after })
    before = after
    return made === rebuild ? [] : made
  })
  return { initial: above.stateDown(kind, state, { viewer }), lowered }
}

describe.each(cases)('$name', (one) => {
  const check = (kind: KindName, state: object, actions: readonly Action[]) => {
    const { initial, lowered } = begun(one, kind, hosted(kind, state), actions.map(hostedAction))
    expectLaw(one, kind, initial, lowered)
  }

  test.each(kindNames)('[V5.1] [V5] the law holds for one action on any state of a %s', (kind) => {
    fc.assert(
      fc.property(stateOf(kind), actionOf(kind), (state, action) => check(kind, state, [action])),
      { numRuns: trials(60, 10) },
    )
  })

  test.each(kindNames)('[V5] the law holds for many actions on a new %s', (kind) => {
    fc.assert(
      fc.property(newStateOf(kind), scriptOf(kind), (state, script) => check(kind, state, script)),
      { numRuns: trials(20, 5) },
    )
  })

  test.each(soundCases())('[V5] the law holds for each case of %s', (_, inFile) => {
    for (const { reducer: kind, initial, actions, name } of inFile)
      expect(() => check(kind, initial, actions), name).not.toThrow()
  })

  test.each(kindNames)('[V5.3] [V5] lowering the state of a %s a second time changes nothing', (kind) => {
    fc.assert(
      fc.property(stateOf(kind), (state) => {
        const { initial } = begun(one, kind, hosted(kind, state), [])
        const down = one.lens.stateDown(kind, deepFreeze(initial), { viewer })
        expect(one.lens.stateDown(kind, down, { viewer })).toBe(down)
        expect(JSON.parse(JSON.stringify(down))).toStrictEqual(down)
      }),
      { numRuns: trials(30, 10) },
    )
  })
})

/** The actions whose older form depends on the state, with the newest version that has such a form. */
const stateDependent = new Map<string, Version>([
  ['changeset/contentChanged', '0.8.0'],
  ['annotations/updated', '0.8.0'],
  ['session/workingDirectoryReplaced', '0.7.0'],
  ['session/customizationToggled', '0.5.1'],
])

describe.each(cases.filter(({ above }) => !above))('$name', ({ lens }) => {
  test.each(kindNames)('[V5.2] [V5] the older form of an action of a %s fits into its stride', (kind) => {
    fc.assert(
      fc.property(stateOf(kind), actionOf(kind), (state, action) => {
        const before = hosted(kind, state)
        const after = reducer('1.0.0')(kind, before, action)
        const lowered = lens.actionDown(kind, action, { viewer, before, after })
        if (lowered !== rebuild)
          expect(lowered.length).toBeLessThanOrEqual(strideOf(kinds[kind], after, action))
      }),
      { numRuns: trials(60, 10) },
    )
  })

  test.each(kindNames)(
    '[V5.4] [V5] the older form of most actions of a %s does not depend on the state',
    (kind) => {
      fc.assert(
        fc.property(actionOf(kind), (action) => {
          try {
            const lowered = lens.actionDown(kind, action)
            expect(lens.actionDown(kind, action)).toStrictEqual(lowered)
          } catch (error) {
            expect(error).toBeInstanceOf(ContextMissing)
            const since = stateDependent.get(action.type)
            expect(since !== undefined && lens.version <= since, action.type).toBe(true)
          }
        }),
        { numRuns: trials(60, 10) },
      )
    },
  )
})
