import { expect, test } from 'vitest'
import { testHost } from '../../test/test-host.ts'
import { parts } from '../parts.ts'
import { defineKey } from './key.ts'
import { unloaded } from './log/channel.ts'
import { PartList } from './part-list.ts'
import { NoParams, command, part } from './part.ts'
import { Rules } from './rules.ts'

test('[A1.2] the parts are opened, follow actions and end in this order', () => {
  expect(parts.map(({ name }) => name)).toEqual([
    'list changes',
    'catalog',
    'aliases',
    'machines',
    'session feed',
    'session resources',
    'content retention',
    'owners',
    'client URI owners',
    'read budget',
    'files',
    'terminals',
    'version control',
    'commits',
    'hooks',
    'encoder',
    'worktrees',
    'worktree ids',
    'agents',
    'tokens',
    'listings',
    'customizations',
    'changes',
    'search',
    'history',
    'devices',
    'sign-ins',
    'notifications',
    'telemetry',
    'background',
    'canvas',
    'departures',
    'roles',
    'subscriptions',
    'root',
    'session',
    'chat',
    'tools',
    'turn',
    'terminal',
    'resources',
    'completions',
    'annotations',
    'resumption',
    'automations',
  ])
})

test('[A1.2] each moment reaches the parts in order, and a part that the host does not have is left out', async () => {
  const all = await testHost()
  const said: string[] = []
  const named = (name: string, value?: object) =>
    part<object | undefined>({
      name,
      key: defineKey(name),
      open: () => value,
      commands: { [name]: command('own', NoParams, () => name) },
      settings: { [name]: { type: 'string', title: name } },
      recover: async () => void said.push(`recover ${name}`),
      started: () => said.push(`started ${name}`),
      disposed: (_, session) => said.push(`disposed ${name} ${session.uri}`),
      close: async () => void said.push(`close ${name}`),
    })
  const list = new PartList()
  await list.open([named('a', {}), named('b'), named('c', {})], all.core(), {})
  await list.recover()
  list.started()
  list.disposed(unloaded('x:/', 'session'))
  await list.close()
  const moments = ['recover', 'started', 'disposed', 'close']
  expect(said).toEqual(
    moments.flatMap((each) =>
      ['a', 'c'].map((name) => [each, name, ...(each === 'disposed' ? ['x:/'] : [])].join(' ')),
    ),
  )
  expect([...list.commands.keys(), ...Object.keys(list.settings)]).toEqual(['a', 'c', 'a', 'c'])
})

test('[A1.2] a part gets what an earlier one offers, and an error for one that is not open', async () => {
  const all = await testHost()
  const key = defineKey<number>('first')
  const list = new PartList()
  const first = part<number>({ name: 'first', key, open: () => 7 })
  expect(() => list.get(key)).toThrow('the part "first" is not open')
  await list.open([first], all.core(), {})
  expect(list.get(key)).toBe(7)
})

test('[A1.2] two parts cannot have a rule for the same action', () => {
  const rules = new Rules()
  rules.add({ guards: [{ 'root/x': () => undefined }] })
  expect(() => rules.add({ guards: [{ 'root/x': () => undefined }] })).toThrow('two parts have root/x')
})
