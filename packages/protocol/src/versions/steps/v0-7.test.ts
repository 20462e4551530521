import { expect, test } from 'vitest'
import { deepFreeze } from '../../../test/cases.ts'
import { frozen, lifting } from '../../../test/lifting.ts'
import type { Customization } from '../../session/customization.ts'
import { ContextMissing } from '../lens.ts'
import { v07 } from './v0-7.ts'

const { down, lowered, lifted } = frozen(v07)

const off = [
  { kind: 'session', enabled: false },
  { kind: 'global', enabled: true },
]
const server = { type: 'mcpServer', id: 'm', state: { kind: 'ready' } }
const plugin = { type: 'plugin', id: 'p' }
const directory = { type: 'directory', id: 'd', enabled: false }
const skill = { type: 'skill', id: 's', enabled: false }
const newer = [
  { ...plugin, enablement: off, childEnablement: {}, children: [skill, { ...server, enablement: off }] },
  plugin,
  directory,
  server,
]
const older = [
  { ...plugin, enabled: false, children: [skill, { ...server, enabled: false }] },
  { ...plugin, enabled: true },
  directory,
  { ...server, enabled: true },
]

test('[V12.1] [V12] [HC-26] the decisions about a customization become one flag', () => {
  const client = (customizations: object) => ({ clientId: 'c', tools: [], customizations })
  const session = (customizations: object) => ({
    status: 1,
    customizations,
    activeClients: [client(customizations)],
  })
  expect(down('session', session(newer))).toStrictEqual(session(older))
  const agents = (customizations: object) => [{ provider: 'a', customizations }]
  expect(down('root', { agents: agents(newer) })).toStrictEqual({ agents: agents(older) })
  for (const [type, payload] of [
    ['root/agentsChanged', (all: readonly object[]) => ({ agents: agents(all) })],
    ['session/customizationsChanged', (all: readonly object[]) => ({ customizations: all })],
    ['session/customizationUpdated', (all: readonly object[]) => ({ customization: all[0] })],
    ['session/activeClientSet', (all: readonly object[]) => ({ activeClient: client(all) })],
  ] as const)
    expect(lowered('session', { type, ...payload(newer) })).toStrictEqual([{ type, ...payload(older) }])
  const toggle = { type: 'session/customizationToggled', id: 'p' }
  expect(lowered('session', { ...toggle, enablement: off })).toStrictEqual([{ ...toggle, enabled: false }])
  expect(lowered('session', { ...toggle, enablement: [] })).toStrictEqual([{ ...toggle, enabled: true }])
})

test('[V12.1] [V12] [HC-26] the flag of an older client is a decision for the session; decisions for other scopes stay', () => {
  const toggle = (id: string) => ({ type: 'session/customizationToggled', id, enabled: true })
  // The customizations of the test have only the keys that the lens reads.
  const context = lifting({ customizations: newer as unknown as readonly Customization[] })
  const enablement = (id: string) => lifted('session', toggle(id), context)
  const on = { kind: 'session', enabled: true }
  const action = (id: string, ...all: readonly object[]) => ({
    type: 'session/customizationToggled',
    id,
    enablement: all,
  })
  expect(enablement('p')).toStrictEqual(action('p', on, off[1] ?? {}))
  expect(enablement('s')).toStrictEqual(action('s', on))
  expect(enablement('unknown')).toStrictEqual(action('unknown', on))
})

test('[V12] [HC-26] the plugins that an older client brings have decisions', () => {
  const brought = (all: readonly object[]) => ({ activeClient: { clientId: 'c', customizations: all } })
  const given = brought([
    { ...plugin, enabled: false },
    { ...plugin, enabled: true },
  ])
  const expected = brought([{ ...plugin, enablement: [{ kind: 'session', enabled: false }] }, plugin])
  const type = 'session/activeClientSet'
  expect(lifted('session', { type, ...given })).toStrictEqual({ type, ...expected })
  expect(v07.paramsUp('createSession', { channel: 's', ...given })).toStrictEqual({
    channel: 's',
    ...expected,
  })
})

test('[V12.2] [V12] [HC-24] a folder that replaces another one is shown by removing and setting folders', () => {
  const action = { type: 'session/workingDirectoryReplaced', directory: 'b', replacement: 'd' }
  const states = (before: readonly string[], after: readonly string[]) => ({
    before: { workingDirectories: before },
    after: { workingDirectories: after },
  })
  const set = (directory: string) => ({ type: 'session/workingDirectorySet', directory })
  const remove = (directory: string) => ({ type: 'session/workingDirectoryRemoved', directory })
  expect(lowered('session', action, states(['a', 'b', 'c'], ['a', 'd', 'c']))).toStrictEqual([
    ...['b', 'c'].map(remove),
    ...['d', 'c'].map(set),
  ])
  expect(lowered('session', action, states(['a', 'b'], ['a']))).toStrictEqual([remove('b')])
  expect(lowered('session', action, states(['a'], ['a']))).toStrictEqual([])
  // The number of actions is at most twice the length of the new list, which the stride of the action reserves.
  expect(lowered('session', action, states(['b', 'd'], ['d']))).toStrictEqual([remove('b')])
  expect(lowered('session', action, states(['b', 'x', 'd'], ['d', 'x']))).toStrictEqual([
    ...['b', 'x'].map(remove),
    set('x'),
  ])
  expect(() => lowered('session', action)).toThrow(ContextMissing)
})

test('[V12.3] [V12] a session needs input while a tool of a client is running', () => {
  const state = { status: 64 + 1, inputNeeded: [{ id: 'x', kind: 'toolClientExecution' }] }
  expect(down('session', state)).toStrictEqual({ ...state, status: 64 + 24 })
  const idle = deepFreeze({ status: 1 })
  expect(down('session', idle)).toBe(idle)
})

test('[V12.3] [V12] a notification that a login is needed has the name of the resource only', () => {
  const params = (resource: unknown) => ({ channel: 'ahp-root://', resource, reason: 'expired' })
  expect(v07.notificationDown('auth/required', params({ resource: 'https://x', scopes: [] }))).toStrictEqual(
    params('https://x'),
  )
})

test('[V12] an agent does not say whether its first folder can be replaced', () => {
  const root = (multipleWorkingDirectories: object) => ({
    agents: [{ provider: 'a', capabilities: { multipleWorkingDirectories } }],
  })
  const both = { immutablePrimary: true, primaryReplacement: true }
  expect(down('root', root(both))).toStrictEqual(root({ immutablePrimary: true }))
})
