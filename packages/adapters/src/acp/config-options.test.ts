import { expect, test } from 'vitest'
import { AgentInfo } from '@atrium/protocol/root/state'
import { SessionConfigSchema } from '@atrium/protocol/common/config'
import { decode } from '@atrium/protocol/schema'
import { acpRoom, chat, errorOf, session, textOf } from '../../test/acp-room.ts'
import { configOptionsOf, configSchema, modelsOf } from './config-options.ts'
import { choicesOf } from './calls/permission.ts'
import { cpuMs } from '../../../host/test/load.ts'

test('[N45] modes, options and models are read before the first session, and offered to users', async () => {
  const room = await acpRoom({ quirks: ['modes', 'options'] })
  const { agents } = room.ann.state('ahp-root://')
  const models = ['small', 'large'].map((id) => ({ id, provider: 'mock', name: id.toUpperCase() }))
  expect(agents).toMatchObject([{ provider: 'mock', models }])
  const { properties = {} } = room.session.config?.schema ?? {}
  expect(properties).toMatchObject({
    'mock.mode': { enum: ['ask', 'code', 'locked'], enumLabels: ['ASK', 'CODE', 'LOCKED'] },
    'mock.effort': { enum: ['low', 'high'] },
    'mock.web': { type: 'boolean' },
  })
  expect(Object.keys(properties)).not.toContain('mock.model')
})

test('[N45] malformed settings of an agent are ignored, and are in no state', () => {
  const junk = [null, 5, 'x', [], {}, { id: 5 }, { id: 'a', options: 5 }, { id: 'b', options: [null, 5, {}] }]
  const odd = { id: 'c', name: { x: 1 }, description: 5, type: 'select', currentValue: {}, category: 7 }
  const options = [{ value: 'v', name: 7 }, { options: [{ value: 'w', name: ['x'] }, null] }, { options: 3 }]
  const model = { id: 'model', options: [{ value: 'm', name: {} }] }
  const response: object = {
    configOptions: [...junk, { ...odd, options }, model],
    modes: { currentModeId: 5, availableModes: [null, { id: 'x', name: 5 }, 'y'] },
    models: 5,
  }
  const parsed = configOptionsOf(response)
  expect(parsed.map(({ id, title, current }) => [id, title, current])).toEqual([
    ['c', 'c', undefined],
    ['model', 'model', undefined],
    ['mode', 'Mode', undefined],
  ])
  const info = { provider: 'p', displayName: 'P', description: '', models: [...modelsOf('p', parsed)] }
  expect(decode(AgentInfo, info)).toMatchObject({ ok: true })
  expect(decode(SessionConfigSchema, configSchema('p', parsed))).toMatchObject({ ok: true })
  const noResponse: object = JSON.parse('null')
  expect(configOptionsOf(noResponse)).toEqual([])
})

test('[N47] long lists of options and commands are cut without delay', async () => {
  const start = cpuMs()
  const many = <T>(make: (i: number) => T) => Array.from({ length: 50_000 }, (_, i) => make(i))
  const offered = many((i) => ({ optionId: `${i}`, name: 'Yes', kind: 'allow_once' }))
  expect(choicesOf([...offered, { optionId: 'no', name: 'No', kind: 'reject_once' }]).length).toBeLessThan(
    100,
  )
  const configOptions = many((i) => ({ id: `${i}`, name: 'x', type: 'boolean' }))
  expect(configOptionsOf({ configOptions }).length).toBeLessThan(200)
  expect(cpuMs() - start).toBeLessThan(2000)
  const room = await acpRoom()
  const turn = await room.turn('commands 50000\nsay on')
  expect(textOf(turn)).toBe('on')
})

test('[N45.1] [N45] settings of users are applied once, before the turn, and a model with its message', async () => {
  const room = await acpRoom({ quirks: ['modes', 'options'] })
  const config = { 'mock.mode': 'code', 'mock.effort': 'high', 'mock.web': true }
  room.ann.dispatch(session, { type: 'session/configChanged', config })
  await room.turn('say a', { model: { id: 'large' } })
  expect(room.agent.lines('set').toSorted()).toEqual(['effort high', 'mode code', 'model large', 'web true'])
  await room.turn('say b')
  expect(room.agent.lines('set')).toHaveLength(4)
})

test('[N45.2] [N45] settings that the agent changes are shown in the session, and are not reverted', async () => {
  const room = await acpRoom({ quirks: ['modes', 'options'] })
  await room.turn('mode code\noption effort high\nsay a')
  expect(room.session.config?.values).toMatchObject({ 'mock.mode': 'code', 'mock.effort': 'high' })
  // A setting that the agent changed in a failed turn is shown too.
  await room.turn('mode ask\nerror -32603 no')
  expect(room.session.config?.values).toMatchObject({ 'mock.mode': 'ask' })
  await room.turn('say b')
  expect(room.agent.lines('set')).toEqual([])
})

test('[N45] a setting that users change during a turn is applied before the next', async () => {
  const room = await acpRoom({ quirks: ['modes', 'options'] })
  const turnId = room.begin('ask c1')
  const call = await room.pendingCall()
  const config = { 'mock.mode': 'code' }
  await room.ann.echo(room.ann.dispatch(session, { type: 'session/configChanged', config }))
  room.decide(call, true)
  await room.ended(turnId)
  expect(room.session.config?.values).toMatchObject(config)
  await room.turn('say b')
  expect(room.agent.lines('set')).toEqual(['mode code'])
})

test('[N45] a setting that the agent refuses fails the turn with an error, and the next turn works', async () => {
  const room = await acpRoom({ quirks: ['modes'] })
  room.ann.dispatch(session, { type: 'session/configChanged', config: { 'mock.mode': 'locked' } })
  const turn = await room.turn('say a')
  expect(errorOf(turn)?.error).toMatchObject({
    errorType: 'settings',
    message: 'Scripted: Mode cannot be set to "locked" (this mode is locked).',
  })
  room.ann.dispatch(session, { type: 'session/configChanged', config: { 'mock.mode': 'ask' } })
  expect((await room.turn('say a')).state).toBe('complete')
})

test('[N45] commands of the agent are completed after a slash, each once', async () => {
  const room = await acpRoom({ quirks: ['early-commands'] })
  await room.turn('say a')
  const typed = { channel: chat, kind: 'userMessage', text: '/c', offset: 2 } as const
  const { items } = await room.ann.ask('completions', typed)
  expect(items).toMatchObject([{ insertText: '/compact ' }].map(() => expect.anything()))
  expect(items.map(({ insertText }) => insertText.trim())).toEqual(['/compact'])
})

test('[N45.4] [N45] the agent’s title is the session’s until a user sets one', async () => {
  const room = await acpRoom()
  await room.turn('title A talk\u2028about\n\nsay a')
  expect(room.session.title).toBe('A talk about')
  room.ann.dispatch(session, { type: 'session/titleChanged', title: 'Mine' })
  await room.turn('title Another\nsay b')
  expect(room.session.title).toBe('Mine')
})
