import { guide } from '@atrium/adapters/guide'
import { versions } from '@atrium/protocol/versions/negotiate'
import { expect, test } from 'vitest'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import {
  accepted,
  chat,
  sessionOf,
  started,
  turn,
  twoClientSession,
} from '../../../test/two-client-session.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'

const read = {
  name: 'read',
  title: 'Read',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  annotations: { readOnlyHint: true },
}
const write = { name: 'write', description: 'Writes a file.' }
const never = () => () => {}
const isLonger = ({ serverTools }: { readonly serverTools?: unknown }) =>
  Array.isArray(serverTools) && serverTools.length === 2

test('[H15.3] state types, Session State: a session shows the tools of its agent, to clients of every version', async () => {
  const all = await testHost({ agents: [new ScriptedAgent({ tools: [read, write] })] })
  for (const version of versions) {
    const client = new OlderClient(all, version)
    await client.open()
    const uri = `mock:/${version}`
    await client.createSession(uri)
    await client.subscribe(uri)
    expect(client.state(uri)['serverTools'], version).toEqual([read, write])
  }
})

test('[H15.3] a session of an agent that names no tools has none, and no turn changes that', async () => {
  const all = await twoClientSession()
  ;(await turn(all, 't1')).end()
  expect(sessionOf(all)).not.toHaveProperty('serverTools')
})

test('[H15.3] other tools of the agent arrive with the next turn; without a change nothing is published', async () => {
  const all = await twoClientSession(new ScriptedAgent({ tools: [read] }))
  ;(await turn(all, 't1')).end()
  expect(all.ben.envelopes.map(({ action }) => action.type)).not.toContain('session/serverToolsChanged')
  const next = new ScriptedAgent({ tools: [read, write] })
  await all.restart('crash', undefined, [next])
  const old = new OlderClient(all, '0.1.0')
  await old.open()
  await old.subscribe('mock:/one')
  const ann = await all.join('ann', { subscribe: [session, chat] })
  expect(ann.state(session)['serverTools']).toEqual([read])
  await accepted(ann, chat, started('t2'))
  await next.given(0)
  // At 0.1 the scheme of a session is its provider.
  for (const [client, uri] of [
    [ann, session],
    [old, 'mock:/one'],
  ] as const) {
    await client.until(() => isLonger(client.state(uri)))
    expect(client.state(uri)['serverTools']).toEqual([read, write])
  }
})

test('[H15.3] [H12] the session that a chat is moved to has the tools, too', async () => {
  const all = await twoClientSession(new ScriptedAgent({ tools: [read] }))
  const [moved, destination] = ['ahp-chat:/moved', { kind: 'newSession' } as const]
  await all.ann.ask('createChat', { channel: session, chat: moved })
  const { session: made } = await all.ann.ask('moveChat', { channel: moved, destination })
  await all.ann.ask('subscribe', { channel: made })
  expect(all.ann.state(made)['serverTools']).toEqual([read])
})

test('[H15.3] the guide names each of its tools', async () => {
  const all = await testHost({ agents: [guide(never)] })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  const tools = ann.state(session)['serverTools'] as readonly { readonly name: string }[]
  expect(tools.map(({ name }) => name).toSorted()).toEqual(
    [
      'comment',
      'comments',
      'edit',
      'leave',
      'login',
      'read',
      'reply',
      'review',
      'run',
      'spawn',
      'write',
    ].toSorted(),
  )
})
