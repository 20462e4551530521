import { expect, test } from 'vitest'
import { AgentInfo } from '@atrium/protocol/root/state'
import { SessionConfigSchema } from '@atrium/protocol/common/config'
import { decode } from '@atrium/protocol/schema'
import { acpRoom, chat, errorOf, session, textOf } from '../../test/acp-room.ts'
import { optionsOf } from './permission.ts'
import { knobsOf, modelsOf, schemaOf } from './config-options.ts'
import { cpuMs } from '../../../host/test/load.ts'

test('[N45] modes, options and models are found out before a session is made, and offered as such', async () => {
  const all = await acpRoom({ quirks: ['modes', 'options'] })
  const { agents } = all.ann.state('ahp-root://') as { agents: readonly object[] }
  const models = ['small', 'large'].map((id) => ({ id, provider: 'mock', name: id.toUpperCase() }))
  expect(agents).toMatchObject([{ provider: 'mock', models }])
  const { properties = {} } = all.session.config?.schema ?? {}
  expect(properties).toMatchObject({
    'mock.mode': { enum: ['ask', 'code', 'locked'], enumLabels: ['ASK', 'CODE', 'LOCKED'] },
    'mock.effort': { enum: ['low', 'high'] },
    'mock.web': { type: 'boolean' },
  })
  expect(Object.keys(properties)).not.toContain('mock.model')
})

test('[N45] what an agent says of its settings in another shape is passed by, and never in anybody’s state', () => {
  const junk = [null, 5, 'x', [], {}, { id: 5 }, { id: 'a', options: 5 }, { id: 'b', options: [null, 5, {}] }]
  const odd = { id: 'c', name: { x: 1 }, description: 5, type: 'select', currentValue: {}, category: 7 }
  const options = [{ value: 'v', name: 7 }, { options: [{ value: 'w', name: ['x'] }, null] }, { options: 3 }]
  const model = { id: 'model', options: [{ value: 'm', name: {} }] }
  const said = {
    configOptions: [...junk, { ...odd, options }, model],
    modes: { currentModeId: 5, availableModes: [null, { id: 'x', name: 5 }, 'y'] },
    models: 5,
  }
  const knobs = knobsOf(said as unknown as Parameters<typeof knobsOf>[0])
  expect(knobs.map(({ id, title, current }) => [id, title, current])).toEqual([
    ['c', 'c', undefined],
    ['model', 'model', undefined],
    ['mode', 'Mode', undefined],
  ])
  const info = { provider: 'p', displayName: 'P', description: '', models: [...modelsOf('p', knobs)] }
  expect(decode(AgentInfo, info)).toMatchObject({ ok: true })
  expect(decode(SessionConfigSchema, schemaOf('p', knobs))).toMatchObject({ ok: true })
  expect(knobsOf(null as unknown as Parameters<typeof knobsOf>[0])).toEqual([])
})

test('[N47] however much an agent offers, nobody waits for it to be sorted', async () => {
  const begun = cpuMs()
  const many = <T>(make: (i: number) => T) => Array.from({ length: 50_000 }, (_, i) => make(i))
  const offered = many((i) => ({ optionId: `${i}`, name: 'Yes', kind: 'allow_once' }))
  expect(optionsOf([...offered, { optionId: 'no', name: 'No', kind: 'reject_once' }]).length).toBeLessThan(
    100,
  )
  const configOptions = many((i) => ({ id: `${i}`, name: 'x', type: 'boolean' }))
  expect(knobsOf({ configOptions }).length).toBeLessThan(200)
  expect(cpuMs() - begun).toBeLessThan(2000)
  const all = await acpRoom()
  const turn = await all.turn('commands 50000\nsay on')
  expect(textOf(turn)).toBe('on')
}, 10_000)

test('[N45] what people set is set before the turn, once, and a model with its message', async () => {
  const all = await acpRoom({ quirks: ['modes', 'options'] })
  const config = { 'mock.mode': 'code', 'mock.effort': 'high', 'mock.web': true }
  all.ann.dispatch(session, { type: 'session/configChanged', config })
  await all.turn('say a', { model: { id: 'large' } })
  expect(all.agent.lines('set').toSorted()).toEqual(['effort high', 'mode code', 'model large', 'web true'])
  await all.turn('say b')
  expect(all.agent.lines('set')).toHaveLength(4)
})

test('[N45] what the agent sets itself is seen in the session, and not taken back', async () => {
  const all = await acpRoom({ quirks: ['modes', 'options'] })
  await all.turn('mode code\noption effort high\nsay a')
  expect(all.session.config?.values).toMatchObject({ 'mock.mode': 'code', 'mock.effort': 'high' })
  // A turn that fails has changed it all the same.
  await all.turn('mode ask\nerror -32603 no')
  expect(all.session.config?.values).toMatchObject({ 'mock.mode': 'ask' })
  await all.turn('say b')
  expect(all.agent.lines('set')).toEqual([])
})

test('[N45] what people set while a turn goes on stays, and is for the next one', async () => {
  const all = await acpRoom({ quirks: ['modes', 'options'] })
  const turnId = all.begin('ask c1')
  const call = await all.asked()
  const config = { 'mock.mode': 'code' }
  await all.ann.echo(all.ann.dispatch(session, { type: 'session/configChanged', config }))
  all.decide(call, true)
  await all.ended(turnId)
  expect(all.session.config?.values).toMatchObject(config)
  await all.turn('say b')
  expect(all.agent.lines('set')).toEqual(['mode code'])
})

test('[N45] what it cannot be set to is said, and the next turn goes on', async () => {
  const all = await acpRoom({ quirks: ['modes'] })
  all.ann.dispatch(session, { type: 'session/configChanged', config: { 'mock.mode': 'locked' } })
  const turn = await all.turn('say a')
  expect(errorOf(turn)?.error).toMatchObject({
    errorType: 'settings',
    message: 'Scripted: it cannot be set to "locked" (this mode is locked).',
  })
  all.ann.dispatch(session, { type: 'session/configChanged', config: { 'mock.mode': 'ask' } })
  expect((await all.turn('say a')).state).toBe('complete')
})

test('[N45] its commands can be completed behind a slash, each once', async () => {
  const all = await acpRoom({ quirks: ['early-commands'] })
  await all.turn('say a')
  const typed = { channel: chat, kind: 'userMessage', text: '/c', offset: 2 } as const
  const { items } = await all.ann.ask('completions', typed)
  expect(items).toMatchObject([{ insertText: '/compact ' }].map(() => expect.anything()))
  expect(items.map(({ insertText }) => insertText.trim())).toEqual(['/compact'])
})

test('[N45] its title is the session’s, until a person has named it', async () => {
  const all = await acpRoom()
  await all.turn('title A talk\u2028about\n\nsay a')
  expect(all.session.title).toBe('A talk about')
  all.ann.dispatch(session, { type: 'session/titleChanged', title: 'Mine' })
  await all.turn('title Another\nsay b')
  expect(all.session.title).toBe('Mine')
})
