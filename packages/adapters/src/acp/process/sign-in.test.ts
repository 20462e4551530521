import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, onTestFinished, test } from 'vitest'
import { testHost } from '../../../../host/test/test-host.ts'
import type { Client } from '../../../../host/test/test-host.ts'
import { acpRoom, errorOf, session, textOf } from '../../../test/acp-room.ts'
import { scriptedAgent } from '../../../test/acp.ts'
import type { ScriptedOptions } from '../../../test/acp.ts'

const key = { resource: 'acp://mock/key', resource_name: 'Scripted: With a key' }
const own = {
  resource: 'acp://mock/own',
  resource_name: 'Scripted: In a browser',
  bearer_methods_supported: [],
}

/** A host with the scripted agent, on which Ann has no session yet. */
async function room(options: ScriptedOptions) {
  const agent = scriptedAgent(options)
  const host = await testHost({ agents: [agent.agent] })
  onTestFinished(() => host.host().close())
  const ann = await host.join('ann')
  return {
    agent,
    host,
    ann,
    create: (client: Client, channel = session) => client.ask('createSession', { channel }),
  }
}

const notesOf = ({ notes }: Client) =>
  notes.flatMap(({ method, params }) => (method === 'auth/required' ? [params] : []))

test.each([
  [
    'a known command',
    { quirks: ['auth'], program: { signIn: 'scripted login' } },
    /Run `scripted login`/,
    'login',
  ],
  ['a terminal method', { quirks: ['auth', 'auth-terminal'] }, /Run `\S+node login`/, 't'],
  ['a description', { quirks: ['auth', 'auth-words'] }, /Set SCRIPTED_KEY and start again\./, 'w'],
  ['no method', { quirks: ['auth'] }, /Run `\S+node` in a terminal/, 'login'],
])(
  '[N54] not signed in, with %s: createSession is refused with -32007, and says what to do',
  async (_, options, message, id) => {
    const { ann, create } = await room(options)
    await expect(create(ann)).rejects.toMatchObject({
      code: -32007,
      message: expect.stringMatching(message) as string,
      data: { resources: [{ resource: `acp://mock/${id}`, bearer_methods_supported: [] }] },
    })
  },
)

test('[N54.1] a key that a user gives reaches only the processes of the sessions of this user', async () => {
  const { agent, host, ann, create } = await room({ quirks: ['auth-key'] })
  await expect(create(ann)).rejects.toMatchObject({ code: -32007, data: { resources: [key] } })
  await expect(
    ann.ask('authenticate', { resource: key.resource, token: 'k-bad-secret' }),
  ).rejects.toMatchObject({
    code: -32007,
    message: expect.not.stringContaining('k-bad-secret') as string,
  })
  await expect(create(ann)).rejects.toMatchObject({ code: -32007 })
  await ann.ask('authenticate', { resource: key.resource, token: 'k-good' })
  await create(ann)
  const eve = await host.join('eve', { principal: 'eve' })
  await expect(create(eve, 'mock:/eve')).rejects.toMatchObject({ code: -32007 })
  const chat = defaultChatUri(session)
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  const turns = () => ann.state(chat)['turns'] as { state: string; responseParts: never[] }[]
  const begin = (turnId: string) =>
    ann.dispatch(chat, {
      type: 'chat/turnStarted',
      turnId,
      startedAt: '2026-01-01T00:00:00Z',
      message: { text: 'say a', origin: { kind: 'user' } },
    })
  begin('t1')
  await ann.until(() => turns().length === 1)
  expect(turns()[0]).toMatchObject({ state: 'complete' })
  // After the key is taken back, the next turn asks for a sign-in.
  await ann.ask('authenticate', { resource: key.resource, token: '' })
  begin('t2')
  await ann.until(() => turns().length === 2 && notesOf(ann).length > 0)
  expect(turns()[1]).toMatchObject({ state: 'error' })
  expect(notesOf(ann)).toEqual([{ channel: session, resource: key, reason: 'required' }])
  const environments = agent.lines('environment').filter((line) => line.includes('k-good'))
  // One process has checked the key, and one did the turn.
  expect(environments).toHaveLength(2)
})

test('[N54.2] a sign-in that the agent carries out itself is for the whole machine', async () => {
  const { agent, host, ann, create } = await room({ quirks: ['auth-own', 'auth-key'] })
  const either = { required: false }
  await expect(create(ann)).rejects.toMatchObject({
    data: {
      resources: [
        { ...own, ...either },
        { ...key, ...either },
      ],
    },
  })
  await ann.ask('authenticate', { resource: own.resource, token: 'sign in' })
  expect(agent.lines('authenticated')).toEqual(['own'])
  await create(ann)
  await create(await host.join('eve', { principal: 'eve' }), 'mock:/eve')
})

test('[N54.2] a sign-in that fails says why, and nothing has changed', async () => {
  const { ann, create } = await room({ quirks: ['auth-own', 'auth-refuses'] })
  await expect(create(ann)).rejects.toMatchObject({ code: -32007 })
  await expect(ann.ask('authenticate', { resource: own.resource, token: 'sign in' })).rejects.toMatchObject({
    code: -32007,
    message: expect.stringContaining('nobody clicked') as string,
  })
  await expect(create(ann)).rejects.toMatchObject({ code: -32007 })
})

test('[N54.3] after a sign-in in a terminal, authenticate asks the agent again', async () => {
  const { agent, ann, create } = await room({ quirks: ['auth', 'auth-terminal'] })
  await expect(create(ann)).rejects.toMatchObject({ code: -32007 })
  const check = () => ann.ask('authenticate', { resource: 'acp://mock/t', token: 'sign in' })
  await expect(check()).rejects.toMatchObject({ code: -32007 })
  writeFileSync(join(agent.folder, 'signed-in'), '')
  await check()
  expect(agent.lines('authenticated')).toEqual([])
  await create(ann)
})

test('[N54] an agent that wants a sign-in only for a prompt: the turn says so, and goes on after the sign-in', async () => {
  const all = await acpRoom({ quirks: ['auth-prompt'] })
  const failed = await all.turn('say a')
  expect(errorOf(failed)).toMatchObject({ resumable: true, error: { errorType: 'auth-required' } })
  await all.ann.until(() => notesOf(all.ann).length > 0)
  expect(notesOf(all.ann)).toMatchObject([{ resource: { resource: 'acp://mock/login' }, reason: 'required' }])
  writeFileSync(join(all.agent.folder, 'signed-in'), '')
  await all.ann.ask('authenticate', { resource: 'acp://mock/login', token: 'sign in' })
  all.resume(failed.id)
  await all.ann.until(() => all.chat.turns[0]?.state === 'complete')
  expect(textOf(all.chat.turns[0] ?? failed)).toBe('a')
  rmSync(join(all.agent.folder, 'signed-in'))
})
