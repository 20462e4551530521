import { describe, expect, test } from 'vitest'
import { deepFreeze, reducerOf, stateCases } from '../test/cases.ts'
import { kindNamed, kinds } from './channels.ts'
import { checkAction } from './kind.ts'
import { decode } from './schema.ts'

const cases = stateCases()

describe('[P2] [P7.4] every reducer gives the states of the corpus', () => {
  test.each(cases)('$file: $name', ({ reducer, initial, actions, expected, same }) => {
    const reduce = reducerOf(reducer)
    let state = deepFreeze(initial)
    for (const action of deepFreeze(actions)) {
      const next = deepFreeze(reduce(state, action))
      if (same) expect(next).toBe(state)
      state = next
    }
    expect(state).toStrictEqual(expected)
    expect(JSON.parse(JSON.stringify(state))).toStrictEqual(state) // [P3]
  })
})

test('[P2] the corpus covers every action of every channel', () => {
  const covered = new Set(cases.flatMap(({ actions }) => actions.map((action) => action.type)))
  const all = Object.values(kinds).flatMap((kind) => [...kind.actions.keys()])
  expect(all.filter((type) => !covered.has(type))).toEqual([])
})

test('[P1] [P1.1] every state and action of the corpus passes its schema, and decode returns the same object', () => {
  const refused: string[] = []
  for (const { file, name, reducer, initial, actions, expected, malformed } of cases) {
    const kind = kindNamed(reducer)
    if (!kind) throw new Error(`no kind ${reducer}`)
    const decoded = [initial, expected].map((state) => ({ value: state, decoded: decode(kind.state, state) }))
    const all = [
      ...decoded,
      ...actions.map((action) => ({ value: action, decoded: checkAction(kind, action) })),
    ]
    const problems = all.filter((one) => !one.decoded.ok || one.decoded.value !== one.value)
    if (problems.length > 0 !== malformed)
      refused.push(`${file}: ${name}: ${JSON.stringify(problems.map((one) => one.decoded))}`)
  }
  expect(refused).toEqual([])
})
