import fc from 'fast-check'
import { expect, test } from 'vitest'
import { definitions, valueOf } from '../test/arbitrary.ts'
import { AutomationRunOrigin } from './automation/state.ts'
import { kinds } from './channels.ts'
import type { ChatState, Turn } from './chat/state.ts'
import { checkAction } from './kind.ts'
import {
  array,
  jsonObject,
  decode,
  id,
  instant,
  is,
  json,
  natural,
  object,
  oneOf,
  openEnum,
  optional,
  record,
  shapeNamed,
  string,
  variant,
} from './schema.ts'
import type { Infer } from './schema.ts'

const colour = openEnum('TestColour', ['red', 'green'])
const size = oneOf('TestSize', ['small', 'large'])
const leaf = object('TestLeaf', { kind: is('leaf'), note: optional(string) })
const branch = object('TestBranch', { kind: is('branch'), leaves: array(leaf), by: record(leaf) })
const tree = variant('TestTree', 'kind', { leaf, branch })
const closedTree = variant('TestClosedTree', 'kind', { leaf }, 'closed')
const thing = object('TestThing', {
  id,
  colour,
  size,
  tree: optional(tree),
  free: optional(jsonObject),
  any: optional(json),
})
const valid = { id: 'a', colour: 'red', size: 'small' }

test('[P1] [P1.1] [P1.2] decode keeps unknown keys and returns the object it was given', () => {
  const value = { ...valid, later: { deep: [1] } }
  expect(decode(thing, value)).toEqual({ ok: true, value })
  const decoded = decode(thing, value)
  expect(decoded.ok && decoded.value).toBe(value)
})

test('[P1] [P1.2] [P1.3] open enums and open variants accept unknown values; closed ones refuse them', () => {
  expect(decode(thing, { ...valid, colour: 'ultraviolet' }).ok).toBe(true)
  expect(decode(thing, { ...valid, tree: { kind: 'bush', thorns: 3 } }).ok).toBe(true)
  expect(decode(thing, { ...valid, size: 'medium' }).ok).toBe(false)
  expect(decode(closedTree, { kind: 'bush' }).ok).toBe(false)
})

test('[P1] [P1.4] a known member of an open variant is checked', () => {
  const decoded = decode(thing, {
    ...valid,
    tree: { kind: 'branch', leaves: [{ kind: 'leaf', note: 7 }], by: {} },
  })
  expect(decoded).toEqual({ ok: false, problem: 'tree.leaves.0.note: expected string, received number' })
})

test('[P4] null at a declared optional key reads as absent, at any depth', () => {
  const bare = { kind: 'leaf', note: null }
  const value = { ...valid, any: 1, free: null, tree: { kind: 'branch', leaves: [bare], by: { x: bare } } }
  const clean = {
    ...valid,
    any: 1,
    tree: { kind: 'branch', leaves: [{ kind: 'leaf' }], by: { x: { kind: 'leaf' } } },
  }
  expect(decode(thing, value)).toStrictEqual({ ok: true, value: clean })
  expect(value.tree.leaves[0]).toStrictEqual({ kind: 'leaf', note: null })
})

test('[P4] null is kept in free JSON and refused at a required key', () => {
  const value = { ...valid, free: { a: null }, any: null }
  expect(decode(thing, { ...value, tree: null })).toStrictEqual({ ok: true, value })
  expect(decode(thing, value)).toStrictEqual({ ok: true, value })
  expect(decode(thing, { ...valid, id: null }).ok).toBe(false)
})

test('[P4] a null turnId in chat/truncated is refused: its absence would clear the chat', () => {
  const action = { type: 'chat/truncated', turnId: null }
  expect(checkAction(kinds.chat, action).ok).toBe(false)
  expect(checkAction(kinds.chat, { type: 'chat/truncated' }).ok).toBe(true)
})

test('[P4] null elsewhere in an action reads as absent', () => {
  const action = { type: 'chat/activityChanged', activity: null }
  expect(checkAction(kinds.chat, action)).toStrictEqual({ ok: true, value: { type: 'chat/activityChanged' } })
})

test.each([
  '\u0000',
  'a\nb',
  '\u202eb',
  '\u200f',
  '\ud800',
  'x\udfff',
  '\u2066',
  '__proto__',
  '\u007f',
  '\u0085',
])('[P6] S-19: an identifier may not be %j', (text) => expect(decode(id, text).ok).toBe(false))

test('[P6] S-19: identifiers keep everything else, and content keeps everything', () => {
  for (const text of ['', 'ahp-chat:/ä', '𝒳', 'a b', '../..', 'constructor'])
    expect(decode(id, text)).toEqual({ ok: true, value: text })
  for (const text of ['\u0000', '\u202e', '\ud800']) expect(decode(string, text).ok).toBe(true)
})

test.each([-1, 1.5, 2 ** 53, Number.POSITIVE_INFINITY, Number.NaN, -0, '1', null])(
  '[P7] [P7.1] S-19: %j is not a natural number',
  (value) => expect(decode(natural, value).ok).toBe(false),
)

test('[P7] [P7.3] a time must have a time zone, and its date must exist', () => {
  for (const text of ['2024-02-29T23:59:59.750-05:00', '2026-01-01T00:00:00Z', '2026-01-01T00:00Z'])
    expect(decode(instant, text).ok).toBe(true)
  for (const text of [
    '2026-01-01T00:00:00',
    '2026-01-01',
    'now',
    '2026-13-01T00:00:00Z',
    '2026-02-30T10:00:00Z',
    '2026-04-31T10:00:00Z',
    '2026-01-01T24:00:00Z',
  ])
    expect(decode(instant, text).ok).toBe(false)
})

test('[P1] every shape accepts the values that its JSON Schema describes', () => {
  fc.assert(
    fc.property(
      fc
        .constantFrom(...Object.keys(definitions).filter((name) => !name.startsWith('Test')))
        .chain((name) => fc.tuple(fc.constant(name), valueOf(name))),
      ([name, value]) => {
        const schema = shapeNamed(name)
        if (!schema) throw new Error(`no shape ${name}`)
        expect(decode(schema, value), `${name} ${JSON.stringify(value)}`).toMatchObject({ ok: true })
      },
    ),
    { numRuns: 1500 },
  )
})

test('[P1.4] the event of a run of an automation is an object', () => {
  const problem = (event: unknown) => {
    const decoded = decode(AutomationRunOrigin, { kind: 'trigger', triggerId: 't', event })
    return decoded.ok ? undefined : decoded.problem
  }
  expect([problem({ type: 'idle', deep: [1, null] }), problem(undefined)]).toEqual([undefined, undefined])
  for (const event of ['idle', 7, [], true]) expect(problem(event), String(event)).toContain('event')
})

test('[P1] a second shape of the same name is an error', () => {
  expect(() => object('ChatState', {})).toThrow('defined twice')
})

test('[P5] the compiler checks the shapes', () => {
  const turn: Turn = {
    id: 't',
    message: { text: '', origin: { kind: 'user' } },
    responseParts: [],
    state: 'complete',
  }
  // The other required keys do not matter to the assignments below.
  const state = { turns: [turn] } as unknown as ChatState
  // @ts-expect-error: a typo in a spread does not compile, because no shape has an index signature
  const typo: ChatState = { ...state, draf: turn.message }
  // @ts-expect-error: absent is not undefined
  const explicit: ChatState = { ...state, activity: undefined }
  // @ts-expect-error: a state is never changed in place
  const mutate = () => (state.title = 'x')
  // @ts-expect-error: a closed enum has no other values
  const ended: Turn = { ...turn, state: 'done' }
  const shape = { a: string, b: optional(string) }
  const inferred: Infer<typeof shape> = { a: '' }
  expect([typo, explicit, mutate, ended, inferred]).toHaveLength(5)
})
