import type { SessionConfigSchema } from '@atrium/protocol/common/config'
import { describe, expect, test } from 'vitest'
import { session, title } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { accepted, refused, twoClientSession, sessionOf } from '../../../test/two-client-session.ts'
import type { AnyAction, TwoClientSession } from '../../../test/two-client-session.ts'

const schema: SessionConfigSchema = {
  type: 'object',
  properties: {
    tone: { type: 'string', title: 'Tone', enum: ['warm', 'cold'], default: 'warm', sessionMutable: true },
    topic: { type: 'string', title: 'Topic', enum: ['a'], enumDynamic: true, sessionMutable: true },
    depth: { type: 'number', title: 'Depth', sessionMutable: true },
    safe: { type: 'boolean', title: 'Safe', sessionMutable: true },
    list: { type: 'array', title: 'List', sessionMutable: true },
    bag: { type: 'object', title: 'Bag', sessionMutable: true },
    host: { type: 'string', title: 'Host', readOnly: true, sessionMutable: true },
    model: { type: 'string', title: 'Model', default: 'm1' },
  },
}
const settable = () => new ScriptedAgent({ settings: { schema } })
const config = (values: object, more: object = {}): AnyAction => ({
  type: 'session/configChanged',
  config: values,
  ...more,
})
const directory = (type: string, at: string, replacement?: string): AnyAction => ({
  type: `session/workingDirectory${type}`,
  directory: at,
  ...(replacement !== undefined && { replacement }),
})
const active = (clientId: string): AnyAction => ({
  type: 'session/activeClientSet',
  activeClient: { clientId, tools: [] },
})
const inactive = (clientId: string): AnyAction => ({ type: 'session/activeClientRemoved', clientId })

const onlyItself = 'a client can only add or remove itself as an active client'
const noDirectory = 'this is not a working directory of the session'
const oneDirectory = 'this agent supports one working directory'
const firstStays = 'the first directory of this session cannot be changed'
const noCustomization = 'this session has no such customization'

test.each([
  ['another client as active', active('ben'), onlyItself],
  ['another client as inactive', inactive('ben'), onlyItself],
  ['an inactive client as inactive', inactive('ann'), 'this client is not an active client'],
  ['a second directory', directory('Set', 'file:///b'), oneDirectory],
  ['a directory that is not there, removed', directory('Removed', 'file:///b'), noDirectory],
  ['a directory that is not there, replaced', directory('Replaced', 'file:///b', 'file:///c'), noDirectory],
  [
    'a customization that is not there, switched',
    { type: 'session/customizationToggled', id: 'c', enablement: [] },
    noCustomization,
  ],
  [
    'a server that is not there, started',
    { type: 'session/mcpServerStartRequested', id: 'c' },
    noCustomization,
  ],
  [
    'a server that is not there, stopped',
    { type: 'session/mcpServerStopRequested', id: 'c' },
    noCustomization,
  ],
  [
    'a server that is not there, let run',
    { type: 'session/mcpServerBackgroundRequested', id: 'c' },
    noCustomization,
  ],
  [
    'a setting of an agent that has none',
    config({ tone: 'warm' }),
    '"tone" cannot be changed in this session',
  ],
] as const)('[H7] %s is refused', async (_, action, reason) => {
  expect(await refused(await twoClientSession(), session, action)).toBe(reason)
})

test.each([
  ['of the wrong type', { tone: 1 }, 'tone must be a string'],
  ['that is null', { tone: null }, 'tone must be a string'],
  ['that is not a number', { depth: '1' }, 'depth must be a number'],
  ['that is not a boolean', { safe: 'yes' }, 'safe must be a boolean'],
  ['that is not an array', { list: {} }, 'list must be an array'],
  ['that is not an object', { bag: [] }, 'bag must be an object'],
  ['that is not one of its values', { tone: 'loud' }, 'tone must be one of "warm", "cold"'],
  ['that is read-only', { host: 'x' }, 'host can only be read'],
  ['that is not mutable in a session', { model: 'm2' }, '"model" cannot be changed in this session'],
  ['that does not exist', { pace: 1 }, '"pace" cannot be changed in this session'],
  [
    'with the name of an Object member',
    { constructor: 1 },
    '"constructor" cannot be changed in this session',
  ],
  ['that is valid beside an invalid one', { tone: 'cold', depth: 'x' }, 'depth must be a number'],
] as const)('[H7] [H7.3] a setting %s is refused', async (_, values, reason) => {
  expect(await refused(await twoClientSession(settable()), session, config(values))).toBe(reason)
})

test('[H7] a replacement that removes an immutable setting is refused', async () => {
  const all = await twoClientSession(settable())
  expect(sessionOf(all).config?.values).toEqual({ tone: 'warm', model: 'm1' })
  const replacing = config({ tone: 'cold' }, { replace: true })
  expect(await refused(all, session, replacing)).toBe('"model" cannot be removed in this session')
})

test.each([
  [{ tone: 'cold' }, { tone: 'cold', model: 'm1' }],
  [{ topic: 'anything' }, { tone: 'warm', topic: 'anything', model: 'm1' }],
  [
    { depth: 2, safe: false, list: [], bag: {} },
    { depth: 2, safe: false, list: [], bag: {}, tone: 'warm', model: 'm1' },
  ],
] as const)('[H7] the settings %j are taken', async (values, after) => {
  const all = await twoClientSession(settable())
  await accepted(all.ann, session, config(values))
  expect(sessionOf(all).config?.values).toEqual(after)
})

describe('[H7] [H7.12] the directories of a session', () => {
  const several = (more: object = {}) =>
    new ScriptedAgent({ capabilities: { multipleWorkingDirectories: more } })
  const cases: readonly (readonly [
    agent: ScriptedAgent,
    action: AnyAction,
    outcome: string | readonly string[],
  ])[] = [
    [new ScriptedAgent(), directory('Set', 'file:///a'), ['file:///a']],
    [new ScriptedAgent(), directory('Removed', 'file:///a'), []],
    [new ScriptedAgent(), directory('Replaced', 'file:///a', 'file:///b'), ['file:///b']],
    [several(), directory('Set', 'file:///b'), ['file:///a', 'file:///b']],
    [several({ immutablePrimary: true }), directory('Removed', 'file:///a'), firstStays],
    [several({ immutablePrimary: true }), directory('Replaced', 'file:///a', 'file:///b'), firstStays],
    [
      several({ immutablePrimary: true, primaryReplacement: true }),
      directory('Replaced', 'file:///a', 'file:///b'),
      ['file:///b'],
    ],
  ]
  test.each(cases)('%#', async (agent, action, outcome) => {
    const all = await twoClientSession(agent)
    if (typeof outcome === 'string') return expect(await refused(all, session, action)).toBe(outcome)
    await accepted(all.ann, session, action)
    expect(sessionOf(all).workingDirectories).toEqual(outcome)
  })

  test('the second one may be removed where the first is immutable', async () => {
    const all = await twoClientSession(several({ immutablePrimary: true }))
    await accepted(all.ann, session, directory('Set', 'file:///b'))
    await accepted(all.ann, session, directory('Removed', 'file:///b'))
    expect(sessionOf(all).workingDirectories).toEqual(['file:///a'])
  })
})

describe('[H7] a customization is found by its id', () => {
  const customizations = [
    {
      type: 'plugin',
      id: 'p',
      uri: 'file:///p',
      name: 'P',
      children: [{ type: 'skill', id: 's', uri: 'file:///s', name: 'S' }],
    },
  ]
  const given = async (all: TwoClientSession) => {
    const channel = all.core().log.channel(session)
    if (channel)
      all
        .core()
        .log.appendChecked(channel, { type: 'session/customizationsChanged', customizations } as AnyAction)
    await all.ben.until(() => all.ben.state(session)['customizations'] !== undefined)
  }
  test.each(['p', 's'])('%s', async (id) => {
    const all = await twoClientSession()
    await given(all)
    await accepted(all.ann, session, { type: 'session/customizationToggled', id, enablement: [] })
  })

  test('and not by another id', async () => {
    const all = await twoClientSession()
    await given(all)
    const toggled = { type: 'session/customizationToggled', id: 'x', enablement: [] }
    expect(await refused(all, session, toggled)).toBe(noCustomization)
  })
})

test('[H7] a failed session can still be renamed, marked as read and archived', async () => {
  const all = await twoClientSession(new ScriptedAgent({ create: () => Promise.reject(new Error('no')) }))
  expect(sessionOf(all).lifecycle).toBe('failed')
  await accepted(all.ann, session, title('Broken'))
  await accepted(all.ann, session, { type: 'session/isReadChanged', isRead: true })
  await accepted(all.ann, session, { type: 'session/isArchivedChanged', isArchived: true })
})
