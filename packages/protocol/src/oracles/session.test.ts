import { describe, expect, test } from 'vitest'
import { now, reduce, spans } from '../../test/older-conversation.ts'

type Json = { readonly [key: string]: unknown }

/** The state of a session up to 0.4, and from 0.5 on. */
const nested = {
  summary: { title: 'a', status: 8 | 32, createdAt: 1, modifiedAt: 1 },
  lifecycle: 'creating',
  config: { schema: {}, values: { x: 1 } },
}
const flat = { title: 'a', status: 8 | 32, lifecycle: 'creating', activeClients: [], config: nested.config }
const both = spans<Json>(['0.1.0', '0.4.0', nested], ['0.5.0', '1.0.0', flat])
const stateAt = new Map(both.map(({ version, expected }) => [version, expected]))
const summaryAt = (state: Json): Json => (state['summary'] ?? state) as Json

describe('the life of a session', () => {
  test.each(spans(['0.1.0', '0.1.0', 1], ['0.2.0', '1.0.0', 8 | 32]))(
    '[V7] $version has the status $expected when a session is ready',
    ({ version, expected }) => {
      const after = reduce(version, 'session', stateAt.get(version) ?? {}, { type: 'session/ready' })
      expect(after).toHaveProperty('lifecycle', 'ready')
      expect(summaryAt(after)).toHaveProperty('status', expected)
    },
  )

  test.each(spans(['0.1.0', '0.8.0', 'creationFailed'], ['0.9.0', '1.0.0', 'failed']))(
    '[V7] $version calls a session that could not be created $expected',
    ({ version, expected }) => {
      const error = { errorType: 'x', message: 'no' }
      const action = { type: 'session/creationFailed', error }
      const after = reduce(version, 'session', stateAt.get(version) ?? {}, action)
      expect(after).toMatchObject({ lifecycle: expected, creationError: error })
    },
  )
})

describe('the properties of a session', () => {
  test.each(both)('[V7] $version has its title, activity and flags in $expected', ({ version, expected }) => {
    const after = reduce(
      version,
      'session',
      expected,
      { type: 'session/activityChanged', activity: 'thinking' },
      { type: 'session/isReadChanged', isRead: false },
      { type: 'session/isArchivedChanged', isArchived: true },
    )
    const changes = { activity: 'thinking', status: 8 | 64 }
    const summary = { ...nested.summary, ...changes }
    expect(after).toEqual('summary' in expected ? { ...expected, summary } : { ...expected, ...changes })
    const cleared = reduce(version, 'session', after, { type: 'session/activityChanged' })
    expect(summaryAt(cleared)).not.toHaveProperty('activity')
  })

  test.each(spans(['0.1.0', '0.4.0', now], ['0.5.0', '1.0.0', undefined]))(
    '[V7] $version has the time $expected after a title and after a setting',
    ({ version, expected }) => {
      const state = stateAt.get(version) ?? {}
      const renamed = reduce(version, 'session', state, { type: 'session/titleChanged', title: 'b' })
      expect(summaryAt(renamed)).toMatchObject({ title: 'b' })
      const set = { type: 'session/configChanged', config: { y: 2 } }
      const merged = reduce(version, 'session', state, set)
      expect(merged).toMatchObject({ config: { values: { x: 1, y: 2 } } })
      const replaced = reduce(version, 'session', state, { ...set, replace: true })
      expect(replaced).toHaveProperty('config.values', { y: 2 })
      for (const after of [renamed, merged, replaced]) expect(summaryAt(after)['modifiedAt']).toBe(expected)
      const { config: _, ...without } = state as typeof flat
      expect(reduce(version, 'session', without, set)).toEqual(without)
    },
  )

  test.each(spans(['0.1.0', '0.1.0', []], ['0.2.0', '0.4.0', ['agent']], ['0.5.0', '1.0.0', undefined]))(
    '[V7] $version has a model, and beside it $expected',
    ({ version, expected }) => {
      const state = stateAt.get(version) ?? {}
      const model = { type: 'session/modelChanged', model: { id: 'm' } }
      const agent = { type: 'session/agentChanged', agent: { uri: 'file:///a' } }
      const after = reduce(version, 'session', state, model, agent)
      if (!expected) return expect(after).toBe(state)
      expect(summaryAt(after)).toMatchObject({ model: { id: 'm' }, modifiedAt: now })
      expect('agent' in summaryAt(after)).toBe(expected.includes('agent'))
      const cleared = reduce(version, 'session', after, { type: 'session/agentChanged' })
      return expect(summaryAt(cleared)).not.toHaveProperty('agent')
    },
  )

  const changesets = [{ label: 'Changes', uriTemplate: 'ahp-changeset:/1' }]
  test.each(
    spans(
      ['0.1.0', '0.1.0', { summary: nested.summary }],
      ['0.2.0', '0.2.0', { summary: { ...nested.summary, changesets } }],
      ['0.3.0', '0.4.0', { summary: nested.summary, changesets }],
      ['0.5.0', '1.0.0', { changesets }],
    ),
  )('[V7] $version lists changesets in $expected', ({ version, expected }) => {
    const state = stateAt.get(version) ?? {}
    const after = reduce(version, 'session', state, { type: 'session/changesetsChanged', changesets })
    expect(after).toEqual({ ...state, ...expected })
    expect(reduce(version, 'session', after, { type: 'session/changesetsChanged' })).toEqual(state)
  })

  test('[V7] only 0.1.0 lists the edits of a session', () => {
    const diffs = [{ diff: { added: 1 } }]
    const action = { type: 'session/diffsChanged', diffs }
    expect(reduce('0.1.0', 'session', nested, action)).toEqual({
      ...nested,
      summary: { ...nested.summary, diffs },
    })
    expect(reduce('0.2.0', 'session', nested, action)).toBe(nested)
  })

  const client = (clientId: string, ...tools: string[]) => ({ clientId, tools })
  test.each(spans(['0.1.0', '0.4.0', undefined]))('[V7] $version has one active client', ({ version }) => {
    const set = (activeClient: object | null) => ({ type: 'session/activeClientChanged', activeClient })
    const tools = { type: 'session/activeClientToolsChanged', tools: ['sh'] }
    expect(reduce(version, 'session', nested, tools)).toBe(nested)
    expect(reduce(version, 'session', nested, set(client('a')), set(client('b')), tools)).toEqual({
      ...nested,
      activeClient: client('b', 'sh'),
    })
    expect(reduce(version, 'session', nested, set(client('a')), set(null))).toEqual(nested)
  })

  test.each(spans(['0.5.0', '1.0.0', undefined]))(
    '[V7] $version has several active clients',
    ({ version }) => {
      const set = (activeClient: object) => ({ type: 'session/activeClientSet', activeClient })
      const both = reduce(
        version,
        'session',
        flat,
        set(client('a')),
        set(client('b')),
        set(client('a', 'sh')),
      )
      expect(both).toEqual({ ...flat, activeClients: [client('a', 'sh'), client('b')] })
      const left = reduce(version, 'session', both, { type: 'session/activeClientRemoved', clientId: 'a' })
      expect(left).toEqual({ ...flat, activeClients: [client('b')] })
    },
  )
})

describe('the open requests of a session', () => {
  const tool = { id: 't', chat: 'c', kind: 'toolClientExecution' }
  const form = { id: 'f', chat: 'c', kind: 'chatInput' }
  const set = (request: object) => ({ type: 'session/inputNeededSet', request })

  test.each(spans(['0.5.0', '0.5.0', 8 | 32], ['0.5.1', '0.7.0', 24 | 32], ['0.8.0-dev', '1.0.0', 8 | 32]))(
    '[V7] $version has the status $expected while a tool of a client runs',
    ({ version, expected }) => {
      expect(reduce(version, 'session', flat, set(tool))).toHaveProperty('status', expected)
    },
  )

  test.each(spans(['0.5.1', '1.0.0', undefined]))(
    '[V7] $version needs input until the last form is answered',
    ({ version }) => {
      const removed = { type: 'session/inputNeededRemoved', id: 'f' }
      const asked = reduce(version, 'session', flat, set({ ...form, old: true }), set(form))
      expect(asked).toEqual({ ...flat, status: 24 | 32, inputNeeded: [form] })
      expect(reduce(version, 'session', asked, removed)).toEqual(flat)
      expect(reduce(version, 'session', { ...flat, status: 1 }, removed)).toEqual({ ...flat, status: 1 })
    },
  )
})

describe('working directories', () => {
  const state = { ...flat, workingDirectories: ['a'] }
  test.each(
    spans(['0.5.0', '0.6.0', ['a']], ['0.7.0', '0.8.0-dev', ['a', 'b']], ['0.8.0', '1.0.0', ['c', 'b']]),
  )('[V7] $version has $expected after a second directory and a replacement', ({ version, expected }) => {
    const add = { type: 'session/workingDirectorySet', directory: 'b' }
    const replace = { type: 'session/workingDirectoryReplaced', directory: 'a', replacement: 'c' }
    expect(reduce(version, 'session', state, add, replace)).toEqual({
      ...state,
      workingDirectories: expected,
    })
  })
})
