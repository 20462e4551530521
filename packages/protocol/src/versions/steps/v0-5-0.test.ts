import { expect, test } from 'vitest'
import { frozen } from '../../../test/lifting.ts'
import { v050 } from './v0-5-0.ts'

const { down, lowered } = frozen(v050)

test('[V16.1] [V16] a session does not list what it needs, and its status never says more than idle', () => {
  expect(down('session', { status: 24 + 32 + 64, inputNeeded: [{ id: 'n' }] })).toStrictEqual({
    status: 1 + 32 + 64,
  })
  for (const type of ['session/inputNeededSet', 'session/inputNeededRemoved'])
    expect(lowered('session', { type, id: 'n', request: { id: 'n' } })).toEqual([])
})

test('[V16.2] [V16] [HC-12] turns are not paged by actions', () => {
  expect(down('chat', { turns: [], turnsNextCursor: 'c' })).toStrictEqual({ turns: [] })
  expect(lowered('chat', { type: 'chat/turnsLoaded', turns: [] })).toEqual([])
  const params = { channel: 'c', before: 't', limit: 3 }
  expect(v050.paramsUp('fetchTurns', params)).toBe(params)
})

test('[V16] params that 0.5.0 does not have are ignored', () => {
  expect(v050.paramsUp('subscribe', { channel: 'c', view: { turns: 3 }, delivery: {} })).toEqual({
    channel: 'c',
  })
  expect(v050.paramsUp('listSessions', { channel: 'c', filter: {}, limit: 1, cursor: 'x' })).toEqual({
    channel: 'c',
  })
  expect(v050.resultDown('listSessions', { items: [], nextCursor: 'n' })).toEqual({ items: [] })
})

test('[V16.3] [V16] tool calls have no intention', () => {
  const call = { toolCallId: 'x', status: 'running' }
  const state = (toolCall: object) => ({
    turns: [{ id: 't', responseParts: [{ kind: 'toolCall', toolCall }] }],
    activeTurn: { id: 'a', responseParts: [{ kind: 'toolCall', toolCall }] },
  })
  const explained = state({ ...call, intention: 'why' })
  expect(down('chat', explained)).toStrictEqual(state(call))
  expect(v050.resultDown('fetchTurns', { turns: explained.turns, hasMore: true })).toStrictEqual({
    turns: state(call).turns,
    hasMore: true,
  })
  const start = { type: 'chat/toolCallStart', turnId: 't', toolCallId: 'x' }
  expect(lowered('chat', { ...start, intention: 'why' })).toStrictEqual([start])
})

test('[V16.3] [V16] an agent has no capabilities, and an agent of a plugin no model and no tools', () => {
  const plugin = (child: object) => [{ type: 'plugin', id: 'p', children: [child] }]
  const newer = { type: 'agent', id: 'a', model: 'm', tools: [] }
  const older = { type: 'agent', id: 'a' }
  const agents = (child: object, more: object) => [{ provider: 'x', customizations: plugin(child), ...more }]
  const root = { agents: agents(newer, { capabilities: {} }) }
  expect(down('root', root)).toStrictEqual({ agents: agents(older, {}) })
  expect(lowered('root', { type: 'root/agentsChanged', ...root })).toStrictEqual([
    { type: 'root/agentsChanged', agents: agents(older, {}) },
  ])
  const changed = { type: 'session/customizationsChanged' }
  expect(lowered('session', { ...changed, customizations: plugin(newer) })).toStrictEqual([
    { ...changed, customizations: plugin(older) },
  ])
})

test('[V16.3] [V16] the contents of a changeset have no nonce', () => {
  const file = (content: object) => ({
    id: 'f',
    edit: { before: { uri: 'f', content }, after: { uri: 'f', content }, diff: { added: 1 } },
  })
  const [newer, older] = [file({ uri: 'c', nonce: 'n' }), file({ uri: 'c' })]
  expect(down('changeset', { files: [newer] })).toStrictEqual({ files: [older] })
  expect(lowered('changeset', { type: 'changeset/fileSet', file: newer })).toStrictEqual([
    { type: 'changeset/fileSet', file: older },
  ])
  expect(lowered('changeset', { type: 'changeset/contentChanged', files: [newer] })).toStrictEqual([
    { type: 'changeset/contentChanged', files: [older] },
  ])
})
