import { describe, expect, test } from 'vitest'
import { deepFreeze } from '../../test/cases.ts'
import { now, nowIso, reduce, spans } from '../../test/older-conversation.ts'
import { knownIn } from '../versions/known.ts'
import { kinds } from '../channels.ts'
import { oracle, oracleVersions, rulesOf } from './oracle.ts'

describe('every oracle', () => {
  test('[V7] there is one for each known version, and one for 0.8.0-dev', () => {
    expect(oracleVersions).toEqual(Object.keys(rulesOf))
    expect(oracleVersions).toHaveLength(13)
  })

  test.each(oracleVersions)('[V7] %s has exactly the action types of its version', (version) => {
    const channels = new Set(Object.keys(kinds))
    const known = [...knownIn(version === '0.8.0-dev' ? '0.7.0' : version)].filter((name) => {
      const [channel = ''] = name.split('/')
      return name.includes('/') && channels.has(channel) && !notifications.has(name)
    })
    const types = Object.values(rulesOf[version]).flatMap((rules) =>
      Object.entries(rules ?? {}).flatMap(([type, rule]) => (rule ? [type] : [])),
    )
    expect(types.toSorted()).toEqual(known.toSorted())
  })

  test.each(oracleVersions)('[V7] %s leaves the state alone for a type that it does not have', (version) => {
    for (const reducer of Object.values(oracle(version))) {
      const state = deepFreeze({ any: 1 })
      for (const type of ['session/nothing', 'constructor', 'x-mine/thing'])
        expect(reducer(state, { type }, now)).toBe(state)
    }
  })

  test.each(
    spans(
      ['0.1.0', '0.1.0', ['root', 'session', 'terminal']],
      ['0.2.0', '0.3.0', ['root', 'session', 'terminal', 'changeset', 'resourceWatch']],
    ),
  )('[V7] $version has the kinds $expected', ({ version, expected }) => {
    expect(Object.keys(oracle(version)).toSorted()).toEqual(expected.toSorted())
  })
})

const notifications = new Set([
  'root/sessionAdded',
  'root/sessionRemoved',
  'root/sessionSummaryChanged',
  'root/progress',
])

describe('the other channels', () => {
  test.each(spans(['0.1.0', '1.0.0', undefined]))('[V7] $version changes the root', ({ version }) => {
    const state = { agents: [], config: { schema: {}, values: { a: 1 } } }
    const set = { type: 'root/configChanged', config: { b: 2 } }
    expect(reduce(version, 'root', state, set)).toHaveProperty('config.values', { a: 1, b: 2 })
    expect(reduce(version, 'root', { agents: [] }, set)).toEqual({ agents: [] })
    const count = { type: 'root/activeSessionsChanged', activeSessions: 3 }
    expect(reduce(version, 'root', state, count)).toEqual({ ...state, activeSessions: 3 })
  })

  const terminal = { title: 't', content: [] }
  test.each(
    spans(
      ['0.1.0', '0.8.0', { exitCode: 3 }],
      ['0.9.0', '1.0.0', { lifecycle: { status: 'exited', exitCode: 3 } }],
    ),
  )('[V7] $version ends a terminal with $expected', ({ version, expected }) => {
    expect(reduce(version, 'terminal', terminal, { type: 'terminal/exited', exitCode: 3 })).toEqual({
      ...terminal,
      ...expected,
    })
  })

  const file = { id: 'f', edit: {} }
  const error = { errorType: 'git', message: 'no' }
  const changeset = { status: 'error', error, files: [], operations: [{ id: 'o', status: 'idle' }] }
  test.each(
    spans(
      ['0.2.0', '0.3.0', changeset],
      ['0.4.0', '0.8.0', { status: 'error', files: [file], operations: changeset.operations }],
      ['0.9.0', '1.0.0', { ...changeset, files: [file] }],
    ),
  )('[V7] $version has $expected after new content', ({ version, expected }) => {
    const content = { type: 'changeset/contentChanged', files: [file] }
    expect(reduce(version, 'changeset', changeset, content)).toEqual(expected)
  })

  test.each(spans(['0.2.0', '0.2.0', 'idle'], ['0.3.0', '1.0.0', 'running']))(
    '[V7] $version has an operation that is $expected after its status changed',
    ({ version, expected }) => {
      const action = { type: 'changeset/operationStatusChanged', operationId: 'o', status: 'running' }
      expect(reduce(version, 'changeset', changeset, action)).toHaveProperty('operations[0].status', expected)
    },
  )

  const files = { ...changeset, files: [file] }
  test.each(
    spans(
      ['0.2.0', '0.5.1', []],
      ['0.5.2', '0.5.2', ['filesReviewedChanged']],
      ['0.6.0', '1.0.0', ['filesReviewChanged']],
    ),
  )('[V7] $version marks a file as reviewed by $expected', ({ version, expected }) => {
    for (const name of ['filesReviewedChanged', 'filesReviewChanged']) {
      const action = { type: `changeset/${name}`, files: ['f'], fileIds: ['f'], reviewed: true }
      const after = reduce(version, 'changeset', files, action)
      expect(after).toEqual(
        expected.includes(name) ? { ...files, files: [{ ...file, reviewed: true }] } : files,
      )
    }
  })

  const annotation = { id: 'a', turnId: 't1', resource: 'file:///a', resolved: false, entries: [] }
  const origin = { session: 's', turnId: 't2' }
  test.each(
    spans(
      ['0.4.0', '0.8.0', { ...annotation, turnId: 't2', resolved: true }],
      ['0.9.0', '1.0.0', { ...annotation, origin, resolved: true }],
    ),
  )('[V7] $version moves an annotation: $expected', ({ version, expected }) => {
    const action = { type: 'annotations/updated', annotationId: 'a', turnId: 't2', origin, resolved: true }
    const state = { annotations: [annotation] }
    expect(reduce(version, 'annotations', state, action)).toEqual({ annotations: [expected] })
    expect(reduce(version, 'annotations', state, { ...action, annotationId: 'b' })).toEqual(state)
  })

  test.each(
    spans(
      ['0.4.0', '0.4.0', []],
      ['0.5.0', '0.6.0', ['activity', 'draft']],
      ['0.7.0', '0.9.0', ['activity', 'draft', 'workingDirectories']],
      ['1.0.0', '1.0.0', ['activity', 'draft', 'workingDirectories', 'movable', 'backgroundWork']],
    ),
  )('[V7] $version knows $expected of a chat', ({ version, expected }) => {
    const after = reduce(
      version,
      'chat',
      { turns: [], modifiedAt: nowIso },
      { type: 'chat/activityChanged', activity: 'x' },
      { type: 'chat/draftChanged', draft: { text: 'x' } },
      { type: 'chat/workingDirectorySet', directory: 'file:///a' },
      { type: 'chat/movableChanged', movable: true },
      { type: 'chat/backgroundWorkSet', work: { id: 'w' } },
    )
    expect(Object.keys(after)).toEqual(['turns', 'modifiedAt', ...expected])
  })
})
