import { expect, test } from 'vitest'
import { acpRoom, chat, errorOf, session } from '../test/acp-room.ts'

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
