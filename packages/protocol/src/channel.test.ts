import { expect, test } from 'vitest'
import { reducerOf } from '../test/cases.ts'
import { kindNames } from '../test/random-actions.ts'
import { reducer } from './reduce.ts'
import { kinds } from './channels.ts'

type Lamp = { readonly lit: boolean }
type On = { readonly type: 'lamp/on' }
type Off = { readonly type: 'lamp/off' }

test('[P2] a reducer without a case for an action does not compile', () => {
  // @ts-expect-error: the case for lamp/off is missing
  const reduce = reducer<Lamp, On | Off>({ 'lamp/on': () => ({ lit: true }) })
  expect(reduce({ lit: false }, { type: 'lamp/on' })).toEqual({ lit: true })
})

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', 'chat/later', ''])(
  '[P5] S-18: an action of type %j changes nothing in any channel',
  (type) => {
    for (const reduce of kindNames.map(reducerOf)) {
      const state = Object.freeze({ untouched: true })
      expect(reduce(state, { type })).toBe(state)
    }
  },
)

test('[P8] clients may dispatch 48 of the 106 actions, and no others', () => {
  const all = Object.values(kinds).flatMap((kind) => [...kind.actions.keys()])
  const dispatchable = Object.values(kinds).flatMap((kind) => [...kind.dispatchable])
  expect(new Set(all).size).toBe(106)
  expect(dispatchable.toSorted()).toMatchInlineSnapshot(`
    [
      "annotations/entryRemoved",
      "annotations/entrySet",
      "annotations/removed",
      "annotations/set",
      "annotations/updated",
      "automation/createRequested",
      "automation/removed",
      "automation/updateRequested",
      "automationRun/cancelRequested",
      "changeset/filesReviewChanged",
      "chat/draftChanged",
      "chat/inputAnswerChanged",
      "chat/inputCompleted",
      "chat/isArchivedChanged",
      "chat/isReadChanged",
      "chat/pendingMessageRemoved",
      "chat/pendingMessageSet",
      "chat/queuedMessagesReordered",
      "chat/toolCallComplete",
      "chat/toolCallConfirmed",
      "chat/toolCallContentChanged",
      "chat/toolCallResultConfirmed",
      "chat/truncated",
      "chat/turnCancelled",
      "chat/turnResume",
      "chat/turnStarted",
      "chat/workingDirectoryRemoved",
      "chat/workingDirectorySet",
      "root/configChanged",
      "session/activeClientRemoved",
      "session/activeClientSet",
      "session/configChanged",
      "session/customizationToggled",
      "session/defaultChatChanged",
      "session/isArchivedChanged",
      "session/isReadChanged",
      "session/mcpServerBackgroundRequested",
      "session/mcpServerStartRequested",
      "session/mcpServerStopRequested",
      "session/titleChanged",
      "session/workingDirectoryRemoved",
      "session/workingDirectoryReplaced",
      "session/workingDirectorySet",
      "terminal/claimed",
      "terminal/cleared",
      "terminal/input",
      "terminal/resized",
      "terminal/titleChanged",
    ]
  `)
})

test('[P8] the relaxed and ephemeral actions are these; every other action is strict', () => {
  const classes = new Map(Object.values(kinds).flatMap((kind) => [...kind.classes]))
  const of = (wanted: string) => [...classes].filter(([, each]) => each === wanted).map(([type]) => type)
  expect(of('relaxed')).toEqual(['chat/delta', 'chat/reasoning', 'chat/toolCallDelta'])
  expect(of('ephemeral').toSorted()).toEqual([
    'canvas/stateChanged',
    'chat/turnsLoaded',
    'resourceWatch/changed',
    'terminal/data',
    'terminal/input',
  ])
  expect(of('strict')).toHaveLength(106 - 8)
})
