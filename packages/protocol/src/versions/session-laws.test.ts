import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { soundCases } from '../../test/cases.ts'
import { expectLaw, hosted } from '../../test/law.ts'
import type { Judged } from '../../test/law.ts'
import { actionOf, actionOfType, newStateOf, scriptOf, stateOf } from '../../test/random-actions.ts'
import { trials } from '../../test/search.ts'
import { batchesOf, begun, expectChatLaw, expectPairLaw } from '../../test/session-law.ts'
import type { Event, Pair } from '../../test/session-law.ts'
import type { Action } from '../channel.ts'
import { oracle } from '../oracles/oracle.ts'
import type { KindName } from '../reducers.ts'
import { chain } from './chain.ts'
import { rebuild } from './lens.ts'
import type { Lens } from './lens.ts'
import type { Version } from './negotiate.ts'
import { at, each, listOf, put, shapeOf, shapeOfAction } from './shape.ts'
import { v01 } from './steps/v0-1.ts'
import { v02 } from './steps/v0-2.ts'
import { v03 } from './steps/v0-3.ts'
import { v04 } from './steps/v0-4.ts'
import { v050 } from './steps/v0-5-0.ts'
import { v051 } from './steps/v0-5-1.ts'
import { v052 } from './steps/v0-5-2.ts'
import { v06 } from './steps/v0-6.ts'
import { v07 } from './steps/v0-7.ts'
import { v08 } from './steps/v0-8.ts'
import { v09 } from './steps/v0-9.ts'

/** The steps in whose versions a session contains its summary. */
const steps: readonly Lens[] = [v04, v03, v02, v01]
const stepsAbove = [v09, v08, v07, v06, v052, v051, v050] as const

interface Case {
  readonly name: string
  readonly lens: Lens
  readonly newer: Version
  /** The lens that makes values of the newer version from those of 1.0. */
  readonly above: Lens | undefined
}
const cases: readonly Case[] = steps.flatMap((lens, i) => {
  const above = chain([...stepsAbove, ...steps.slice(0, i)])
  const whole = chain([...stepsAbove, ...steps.slice(0, i + 1)])
  return [
    { name: `${above.version} to ${lens.version}`, lens, newer: above.version, above },
    { name: `1.0.0 to ${lens.version}`, lens: whole, newer: '1.0.0' as const, above: undefined },
  ]
})

/** A chat as the default chat of a session. */
function pairOf(session: object, chat: object): Pair {
  const { resource, title, status, modifiedAt } = shapeOf(chat)
  const entry = { resource, title, status, modifiedAt }
  const others = listOf(shapeOf(session), 'chats').filter((other) => shapeOf(other)['resource'] !== resource)
  const distinct = [...new Map(others.map((other) => [shapeOf(other)['resource'], other])).values()]
  return {
    session: hosted('session', put(shapeOf(session), { chats: [...distinct, entry], defaultChat: resource })),
    chat: hosted('chat', chat),
    changeset: newChangeset,
  }
}

const newSession = { provider: 'p', title: 'T', status: 1, lifecycle: 'ready', activeClients: [], chats: [] }
const newChangeset = { status: 'computing', files: [] }
const newChat = { resource: 'c', title: 'T', status: 1, modifiedAt: '2026-01-01T00:00:00.000Z', turns: [] }

const conversations = soundCases().filter(
  ([, [first]]) => first?.reducer === 'session' || first?.reducer === 'chat',
)

const selected = fc.record(
  { model: fc.constantFrom({ id: 'm' }, { id: 'n', config: { a: 1 } }), agent: fc.constant({ uri: 'u' }) },
  { requiredKeys: [] },
)
const own = fc.record(
  { selection: selected, deferred: selected, other: fc.boolean() },
  { requiredKeys: ['selection'] },
)
const metaChanged: fc.Arbitrary<Action> = fc
  .record({ 'x-atrium': own, free: fc.boolean() }, { requiredKeys: ['x-atrium'] })
  .map((_meta) => Object.assign({ type: 'session/metaChanged' }, { _meta }))

/** Actions of a conversation that go on with one turn and one tool call, so that long sequences make sense. */
const going = fc
  .constantFrom(
    ...`turnStarted turnStarted toolCallStart toolCallStart toolCallDelta toolCallReady toolCallReady toolCallConfirmed
    toolCallComplete toolCallComplete toolCallResultConfirmed toolCallContentChanged inputRequested inputAnswerChanged
    inputCompleted responsePart delta usage turnComplete turnCancelled error truncated pendingMessageSet
    pendingMessageRemoved queuedMessagesReordered`.split(/\s+/),
  )
  .chain((name) => actionOfType(`chat/${name}`))
  .map((action) =>
    Object.entries({ turnId: 't', toolCallId: 'k', requestId: 'r', partId: 'p' }).reduce(
      (shape, [key, id]) => at(shape, key, () => id),
      at(shapeOfAction(action), 'request', (request) => put(shapeOf(request), { id: 'r' })),
    ),
  )

/** Actions on the clients and customizations of a session. The customizations have few ids, so that they meet again. */
const joining = fc
  .constantFrom(
    ...`activeClientSet activeClientSet activeClientRemoved customizationsChanged customizationsChanged
    customizationUpdated customizationToggled customizationRemoved mcpServerStateChanged mcpServerStartRequested
    mcpServerStopRequested`.split(/\s+/),
  )
  .chain((name) => fc.tuple(actionOfType(`session/${name}`), fc.constantFrom('0', '1', '0.0', '1.1')))
  .map(([action, id]) => {
    const customized = at(
      at(shapeOfAction(action), 'id', () => id),
      'customizations',
      numbered(''),
    )
    return at(customized, 'customization', (item) => put(shapeOf(item), { id: id.charAt(0) }))
  })

/** The customizations with their places in the tree as ids. */
function numbered(above: string): (list: unknown) => unknown {
  return (list) => {
    if (!Array.isArray(list)) return list
    return list
      .map(shapeOf)
      .map((item, i) => at(put(item, { id: `${above}${i}` }), 'children', numbered(`${above}${i}.`)))
  }
}

const onChat = fc.record({
  kind: fc.constant('chat' as const),
  action: fc.oneof(going, going, actionOf('chat')),
})
const onSession = fc.record({
  kind: fc.constant('session' as const),
  action: fc.oneof(joining, joining, actionOf('session'), metaChanged),
})
const onChangeset = fc.record({
  kind: fc.constant('changeset' as const),
  action: actionOf('changeset').map((action) => distinctFiles(action) as Action),
})
const event: fc.Arbitrary<Event> = fc.oneof(onChat, onSession, onChangeset)
const events = fc.array(event, { maxLength: 60, size: 'max' })

describe.each(cases)('$name', ({ lens, newer, above }) => {
  const check = (session: object, chat: object, script: readonly Event[]) => {
    const pair = pairOf(session, chat)
    const batches = batchesOf(pair, script)
    const start = above ? begun(above, pair, batches) : { initial: pair, batches }
    expectPairLaw(lens, newer, start.initial, start.batches)
  }

  test('[V5] the law holds for one action on any session and its primary chat', () => {
    fc.assert(
      fc.property(stateOf('session'), stateOf('chat'), event, (session, chat, one) =>
        check(session, chat, [one]),
      ),
      { numRuns: trials(60, 10) },
    )
  })

  test('[V5] the law holds for many actions on a new session and its primary chat', () => {
    fc.assert(fc.property(newStateOf('session'), newStateOf('chat'), events, check), {
      numRuns: trials(60, 6),
    })
  })

  test.each(above ? [] : conversations)('[V5] the law holds for each case of %s', (_, inFile) => {
    for (const { reducer, initial, actions, name } of inFile) {
      const kind = reducer === 'session' ? 'session' : 'chat'
      const script = actions.map((action) => ({ kind, action }) as const)
      const holds = () =>
        check(kind === 'session' ? initial : newSession, kind === 'chat' ? initial : newChat, script)
      expect(holds, name).not.toThrow()
    }
  })

  test.runIf(oracle(newer).chat && !oracle(lens.version).chat)(
    '[V5] the law holds for a chat that is shown as a session',
    () => {
      fc.assert(
        fc.property(newStateOf('chat'), fc.array(going, { maxLength: 60, size: 'max' }), (state, script) => {
          const chat = hosted('chat', state)
          if (!above) return expectChatLaw(lens, newer, chat, script)
          const lowered = loweredAll(above, 'chat', chat, script)
          expectChatLaw(lens, newer, above.stateDown('chat', chat, { viewer: 'a' }), lowered)
        }),
        { numRuns: trials(40, 5) },
      )
    },
  )

  const judged: Judged = { lens, newer: reducer(newer), older: reducer(lens.version) }
  const kinds: readonly KindName[] = ['root', 'terminal', 'changeset', 'annotations', 'resourceWatch']

  test.each(kinds)('[V5] the law holds for the actions of a %s', (kind) => {
    fc.assert(
      fc.property(stateOf(kind), scriptOf(kind), (state, script) => {
        const native = hosted(kind, distinctFiles(state))
        const actions = script.map((action) => distinctFiles(action) as Action)
        if (!above) return expectLaw(judged, kind, native, actions)
        expectLaw(
          judged,
          kind,
          above.stateDown(kind, native, { viewer: 'a' }),
          loweredAll(above, kind, native, actions),
        )
      }),
      { numRuns: trials(30, 5) },
    )
  })
})

function reducer(version: Version) {
  return (kind: KindName, state: object, action: Action) =>
    oracle(version)[kind]?.(state, action, 9999) ?? state
}

function loweredAll(
  above: Lens,
  kind: KindName,
  state: object,
  actions: readonly Action[],
): readonly Action[] {
  let before = state
  return actions.flatMap((action) => {
    const after = reducer('1.0.0')(kind, before, action)
    const made = above.actionDown(kind, action, { viewer: 'a', before, after })
    before = after
    return made === rebuild ? [] : made
  })
}

/** The files of a changeset have different ids. */
function distinctFiles(holder: object): object {
  return at(shapeOf(holder), 'files', (files) => {
    const seen = new Set<unknown>()
    return each((file) => (seen.has(file['id']) ? undefined : (seen.add(file['id']), file)))(files)
  })
}
