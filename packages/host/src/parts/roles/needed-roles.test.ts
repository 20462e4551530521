import { catalogOf } from '../../catalog/catalog.ts'
import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { commands } from '@atrium/protocol/commands'
import { includes, roles } from '@atrium/protocol/root/device'
import type { Role } from '@atrium/protocol/root/device'
import { defaultChatUri } from '@atrium/protocol/uri'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { valueOf } from '../../../../protocol/test/arbitrary.ts'
import { pairedClient } from '../../../test/devices.ts'
import { actionOf, createEveryKind, everything, kindNames, uriOf } from '../../../test/every-kind.ts'
import { testHost } from '../../../test/test-host.ts'
import type { Client } from '../../../test/test-host.ts'
import { session } from '../../../test/two-clients.ts'
import { methods } from '../../../test/commands/methods.ts'
import { actionRoles, commandRoles } from './needed-roles.ts'

const needsRole = /needs the role (\w+); the device "\w+" has the role \w+/

/** The rows of a table whose role does not depend on the content. */
function plainRows(table: object): readonly (readonly [string, Role])[] {
  return Object.entries(table).filter(([, row]) => typeof row === 'string') as [string, Role][]
}

function sample<T>(arbitrary: fc.Arbitrary<T>): readonly T[] {
  return fc.sample(arbitrary, { numRuns: 5, seed: 11 })
}

test('[T8] [T8.1] [S-12] every command and every action that clients may send has a row', () => {
  expect(Object.keys(commandRoles).toSorted()).toEqual([...commands.keys()].toSorted())
  const dispatchable = kindNames.flatMap((kind) => [...kinds[kind].dispatchable])
  expect(Object.keys(actionRoles).toSorted()).toEqual([...new Set(dispatchable)].toSorted())
})

describe.each(roles)('[T8] [T8.2] [S-12] a device with the role %s', (role) => {
  test('may dispatch the actions of its role only, and a refused one changes nothing', async () => {
    const all = await testHost()
    createEveryKind(all.core())
    const client = await pairedClient(all, role)
    for (const [type, needed] of plainRows(actionRoles)) {
      const kind = kindNames.find((name) => kinds[name].actions.has(type)) ?? 'root'
      for (const action of sample(actionOf(type))) {
        const before = everything(all.core())
        const { rejectionReason = '' } = await client.echo(client.dispatch(uriOf(kind), action))
        expect([type, needsRole.exec(rejectionReason)?.[1]]).toEqual([
          type,
          includes(role, needed) ? undefined : needed,
        ])
        if (rejectionReason !== '') expect(everything(all.core())).toBe(before)
      }
    }
  })

  test('may run the commands of its role only', async () => {
    const all = await testHost()
    const client = await pairedClient(all, role)
    const served = plainRows(commandRoles).filter(([method]) => methods.includes(method))
    for (const [method, needed] of served) {
      const name = `${method.charAt(0).toUpperCase()}${method.slice(1)}Params`
      for (const params of sample(valueOf(name))) {
        const failed = await outcome(client, method, { ...(params as object), channel: 'ahp-root://' })
        expect([method, needsRole.exec(failed)?.[1]]).toEqual([
          method,
          includes(role, needed) ? undefined : needed,
        ])
      }
    }
  })
})

test('[T8] an action of another kind of channel is refused as unknown, whatever its shape', async () => {
  const all = await testHost()
  createEveryKind(all.core())
  const client = await pairedClient(all, 'watch')
  for (const type of Object.keys(actionRoles)) {
    const kind = kindNames.find((name) => !kinds[name].actions.has(type)) ?? 'root'
    const { rejectionReason } = await client.echo(client.dispatch(uriOf(kind), { type }))
    expect(rejectionReason).toContain('unknown action')
  }
})

describe('[T8] [T8.3] what prompt may not do', () => {
  async function prompting() {
    const all = await testHost()
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: session, workingDirectories: ['file:///home/ann/work'] })
    const client = await pairedClient(all, 'prompt')
    await client.ask('subscribe', { channel: session })
    const chat = defaultChatUri(session)
    await client.ask('subscribe', { channel: chat })
    return { all, ann, client, chat }
  }
  const refused = { rejectionReason: expect.stringContaining('needs the role own') }
  const message = (text: string) => ({ text, origin: { kind: 'user' } })

  test('a shell command is refused, at once and from the queue; a message is accepted', async () => {
    const { client, chat } = await prompting()
    const start = (text: string): Action & Record<string, unknown> => ({
      type: 'chat/turnStarted',
      turnId: text,
      startedAt: '2026-01-01T00:00:00Z',
      message: message(text),
    })
    const queue = (text: string): Action & Record<string, unknown> => ({
      type: 'chat/pendingMessageSet',
      kind: 'queued',
      id: 'q',
      message: message(text),
    })
    for (const action of [start('!id'), start('! id'), queue('!id'), queue('!\tid')])
      expect(await client.echo(client.dispatch(chat, action))).toMatchObject(refused)
    expect(await client.echo(client.dispatch(chat, start('hello')))).not.toHaveProperty('rejectionReason')
  })

  test('tools and plugins are not lent; a client without any may be active', async () => {
    const { all, client } = await prompting()
    const active = (more: object) => ({
      type: 'session/activeClientSet',
      activeClient: { clientId: client.clientId, tools: [], ...more },
    })
    const tool = { name: 'shell', inputSchema: { type: 'object' } }
    const plugin = { id: 'p', uri: 'file:///p', type: 'plugin', name: 'p' }
    for (const more of [{ tools: [tool] }, { customizations: [plugin] }])
      expect(await client.echo(client.dispatch(session, active(more)))).toMatchObject({
        rejectionReason: expect.any(String),
      })
    expect(await client.echo(client.dispatch(session, active({})))).not.toHaveProperty('rejectionReason')
    await expect(
      client.ask('createSession', {
        channel: 'ahp-session:/lent',
        activeClient: { clientId: client.clientId, tools: [tool] },
      }),
    ).rejects.toThrow('needs the role own')
    expect(catalogOf(all.core()).get('ahp-session:/lent')).toBeUndefined()
  })

  test('sessions and chats are created in folders that a session has, and without settings', async () => {
    const { client } = await prompting()
    const create = (name: string, more: object) =>
      client.ask('createSession', { channel: `ahp-session:/${name}`, ...more })
    const own = 'needs the role own'
    await expect(create('a', { workingDirectories: ['file:///home/ann'] })).rejects.toThrow(own)
    await expect(create('b', { workingDirectories: ['file:///home/ann/work2'] })).rejects.toThrow(own)
    await expect(create('c', { workingDirectories: ['file:///home/ann/work/../x'] })).rejects.toThrow(own)
    await expect(create('d', { config: { autoApprove: true } })).rejects.toThrow(own)
    await create('e', { workingDirectories: ['file:///home/ann/work/inner'] })
    const chat = (id: string, more: object) =>
      client.ask('createChat', { channel: session, chat: `ahp-chat:/${id}`, ...more })
    await expect(chat('f', { initialMessage: message('!id') })).rejects.toThrow(own)
    await expect(chat('g', { workingDirectories: ['file:///etc'] })).rejects.toThrow(own)
    // This agent has one chat for each session. The role is no obstacle.
    await expect(chat('h', {})).rejects.toThrow('one chat per session')
  })
})

/** The message of the error of a request; empty if it has none, or no error. */
async function outcome(client: Client, method: string, params: object): Promise<string> {
  return client.peer.request(method, params).then(
    () => '',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  )
}
