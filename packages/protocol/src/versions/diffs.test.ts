import { expect, test } from 'vitest'
import { deepFreeze } from '../../test/cases.ts'
import type { Action } from '../channel.ts'
import { reducers } from '../reducers.ts'
import { lenses } from './lenses.ts'
import { ContextMissing } from './lens.ts'
import { v01 } from './steps/v0-1.ts'

const edit = (name: string) => ({ after: { uri: name, content: { uri: name } }, diff: { added: 1 } })
const file = (name: string) => ({ id: name, edit: edit(name) })
const changeset = (...names: readonly string[]) => ({ status: 'ready', files: names.map(file) })
const diffsChanged = (...names: readonly string[]) => ({
  type: 'session/diffsChanged',
  diffs: names.map(edit),
})
const viewer = 'a'

test('[V20.5] [V20] the files of the changeset of a session are `diffs` of its summary', () => {
  const session = deepFreeze({ summary: { resource: 's', status: 1 }, lifecycle: 'ready', turns: [] })
  const context = { viewer, changeset: changeset('a', 'b') }
  expect(v01.stateDown('session', session, context)).toStrictEqual({
    ...session,
    summary: { ...session.summary, diffs: [edit('a'), edit('b')] },
  })
  expect(v01.stateDown('session', session, { viewer })).toBe(session)
  expect(v01.stateDown('chat', session, context)).toBe(session)
})

test.each([
  ['changeset/fileSet', { file: file('b') }, changeset('a'), changeset('a', 'b'), [diffsChanged('a', 'b')]],
  ['changeset/fileRemoved', { fileId: 'a' }, changeset('a', 'b'), changeset('b'), [diffsChanged('b')]],
  ['changeset/cleared', {}, changeset('a'), changeset(), [diffsChanged()]],
  ['changeset/fileSet', { file: { ...file('a'), _meta: {} } }, changeset('a'), changeset('a'), []],
  ['changeset/statusChanged', { status: 'computing' }, changeset('a'), changeset('a'), []],
  ['changeset/operationsChanged', {}, changeset('a'), changeset('a'), []],
])('[V20.5] [V20] %s replaces all `diffs` if the edits differ', (type, payload, before, after, expected) => {
  const action = deepFreeze({ type, ...payload })
  expect(v01.actionDown('changeset', action, { viewer, before, after })).toStrictEqual(expected)
})

test('[V20] new content of a changeset is one action, however many files it has', () => {
  const lens = lenses.get('0.1.0')
  const names = ['a', 'b', 'c']
  const action: Action = Object.assign(
    { type: 'changeset/contentChanged' },
    { files: names.map(file), operations: [] },
  )
  const before = { status: 'computing', files: [] }
  const after = reducers.changeset(before, action as never)
  expect(lens?.actionDown('changeset', action, { viewer, before, after })).toStrictEqual([
    diffsChanged(...names),
  ])
})

test('[V20] only a change of the files needs the state, so that the rest can be replayed', () => {
  const lens = lenses.get('0.1.0')
  for (const type of [
    'changeset/fileSet',
    'changeset/fileRemoved',
    'changeset/cleared',
    'changeset/contentChanged',
  ])
    expect(() => lens?.actionDown('changeset', { type })).toThrow(ContextMissing)
  for (const type of [
    'changeset/statusChanged',
    'changeset/operationsChanged',
    'changeset/filesReviewChanged',
  ])
    expect(lens?.actionDown('changeset', { type })).toEqual([])
})
