import { tokensOf } from './tokens.ts'
import { expect, test } from 'vitest'
import { untilIdle } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import { advance, testHost } from '../../../test/test-host.ts'
import {
  chat,
  chatOf,
  message,
  session,
  started,
  oneClientSession,
} from '../../../test/one-client-session.ts'
import { github, optional, guarded, give, codeOf, notesOf, signedOut } from '../../../test/auth/sign-in.ts'

test('[J7.1] [J7] a token is accepted for a resource that an agent needs, and for no other', async () => {
  const { ann } = await oneClientSession(new ScriptedAgent({ protectedResources: [optional] }))
  expect(await give(ann, optional.resource)).toEqual({})
  expect(await give(ann, optional.resource, 'T', { scopes: ['a'], expiresIn: 1 })).toEqual({})
  expect(await give(ann, optional.resource, '')).toEqual({})
  expect(await give(ann, optional.resource, '')).toEqual({})
})

test.each([
  ['an unknown resource', { resource: 'https://other.example' }],
  ['another path', { resource: `${optional.resource}/` }],
  ['another case', { resource: optional.resource.toUpperCase() }],
  ['a prefix of the resource', { resource: 'https://optional.exampl' }],
  ['the name of an object property', { resource: '__proto__x' }],
  ['nothing', { resource: '' }],
  ['a number', { resource: 7 }],
  ['a token for another resource', { token: `e30.${btoa('{"aud":"https://evil.example"}')}.x` }],
  ['a token that is a number', { token: 7 }],
  ['a token that is an object', { token: { secret: 'T' } }],
  ['no token', { token: null }],
  ['expiresIn 0', { expiresIn: 0 }],
  ['a negative expiresIn', { expiresIn: -1 }],
  ['half a second', { expiresIn: 0.5 }],
  ['expiresIn in words', { expiresIn: '10' }],
  ['scopes that are no list', { scopes: 'read' }],
  ['scopes that are numbers', { scopes: [1] }],
])('[J7.2] [J7] authenticate with %s is -32602, and nothing is stored', async (_, more) => {
  const { all, ann } = await oneClientSession(new ScriptedAgent({ protectedResources: [optional] }))
  expect(await codeOf(give(ann, optional.resource, 'T', more))).toBe(-32602)
  expect(tokensOf(all.core()).of('owner', optional.resource)).toBeUndefined()
  expect(all.world.reports).toEqual([])
})

test('[S-57 tokenLength] at 16,384: accepted', async () => {
  const { ann } = await oneClientSession(new ScriptedAgent({ protectedResources: [optional] }))
  expect(await give(ann, optional.resource, 'x'.repeat(16_384))).toEqual({})
})

test('[J7.2] [S-57 tokenLength] past 16,384: refused, and the error does not contain the token', async () => {
  const { ann } = await oneClientSession(new ScriptedAgent({ protectedResources: [optional] }))
  await expect(give(ann, optional.resource, 'x'.repeat(16_385))).rejects.toMatchObject({
    code: -32602,
    message: 'authenticate: a token has at most 16384 characters',
  })
})

test('[J9] createSession without a required token fails with -32007 and the resources, and leaves nothing', async () => {
  const all = await testHost({ agents: [guarded()] })
  const ann = await all.join('ann')
  await expect(ann.ask('createSession', { channel: session })).rejects.toMatchObject({
    code: -32007,
    message: 'Puppet needs a sign-in: Example',
    data: { resources: [github] },
  })
  await give(ann, github.resource)
  await ann.ask('createSession', { channel: session })
})

test('[J9.5] a client that creates sessions in advance learns at its first turn that a token is missing', async () => {
  const all = await testHost({ agents: [guarded()], machine: advance })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: chat })
  ann.dispatch(chat, started('t1'))
  await ann.until(() => chatOf(ann).turns.length === 1)
  expect(chatOf(ann).turns).toMatchObject([{ responseParts: [{ error: { errorType: 'auth-required' } }] }])
})

test('[J9] other problems of createSession are reported first', async () => {
  const all = await testHost({ agents: [guarded()] })
  const ann = await all.join('ann')
  expect(await codeOf(ann.ask('createSession', { channel: session, provider: 'none' }))).toBe(-32002)
  expect(await codeOf(ann.ask('createSession', { channel: session, workingDirectories: ['http://x'] }))).toBe(
    -32602,
  )
})

test('[J9] createChat likewise', async () => {
  const { ann } = await signedOut()
  const asked = { channel: session, chat: 'ahp-chat:/two', initialMessage: message('go') }
  await expect(ann.ask('createChat', asked)).rejects.toMatchObject({
    code: -32007,
    data: { resources: [github] },
  })
  await give(ann, github.resource)
  await ann.ask('createChat', asked)
})

test("[J9] S-10: another principal's token does not count", async () => {
  const all = await testHost({ agents: [guarded()] })
  const ann = await all.join('ann')
  const eve = await all.join('eve', { principal: 'eve' })
  await give(eve, github.resource)
  expect(await codeOf(ann.ask('createSession', { channel: session }))).toBe(-32007)
  await give(ann, github.resource)
  await give(eve, github.resource, '')
  await ann.ask('createSession', { channel: session })
})

test('[J9.1] [J9] a turn without a required token ends with an error, and can be resumed after a sign-in', async () => {
  const { ann, agent } = await signedOut()
  ann.dispatch(chat, started('t1'))
  await ann.until(() => chatOf(ann).turns.length === 1 && notesOf(ann).length > 0)
  const error = { errorType: 'auth-required', message: 'Puppet needs a sign-in: Example' }
  expect(chatOf(ann).turns).toMatchObject([
    { state: 'error', responseParts: [{ kind: 'error', error, resumable: true }] },
  ])
  expect(notesOf(ann)).toEqual([{ channel: session, resource: github, reason: 'required' }])
  expect(agent.runs).toEqual([])
  await give(ann, github.resource)
  ann.dispatch(chat, { type: 'chat/turnResume', turnId: 't1' })
  ;(await agent.given()).end()
  await ann.until(() => chatOf(ann).turns[0]?.state === 'complete')
})

test('[J9.2] [J9] only subscribed links of the same principal are notified, and no link later', async () => {
  const { all, ann } = await signedOut()
  const ben = await all.join('ben', { subscribe: [session] })
  const cem = await all.join('cem', { subscribe: ['ahp-root://'] })
  const eve = await all.join('eve', { principal: 'eve', subscribe: [session, chat] })
  ann.dispatch(chat, started('t1'))
  await ann.until(() => notesOf(ann).length > 0)
  await untilIdle()
  expect([ann, ben, cem, eve].map((client) => notesOf(client).length)).toEqual([1, 1, 0, 0])
  ben.peer.close()
  const back = all.link()
  await back.ask('reconnect', { clientId: 'ben', lastSeenServerSeq: 0, subscriptions: [session] })
  await untilIdle()
  expect(notesOf(back)).toEqual([])
})

test('[J9] a 0.9 client gets the same notification', async () => {
  const { all, ann } = await signedOut()
  const old = all.link()
  await old.ask('initialize', {
    protocolVersions: ['0.9.0'],
    clientId: 'old',
    initialSubscriptions: [chat],
  })
  ann.dispatch(chat, started('t1'))
  await old.until(() => notesOf(old).length > 0)
  expect(notesOf(old)).toEqual([{ channel: chat, resource: github, reason: 'required' }])
})

test('[J8.2] [J8] the expiry of a token is sent to the subscribers of channels that need it', async () => {
  const agent = guarded()
  const all = await testHost({ agents: [agent, new ScriptedAgent({ provider: 'other' })] })
  const ann = await all.join('ann', { subscribe: ['ahp-root://'] })
  await give(ann, github.resource, 'T', { expiresIn: 60 })
  await ann.ask('createSession', { channel: session })
  await ann.ask('createSession', { channel: 'ahp-session:/other', provider: 'other' })
  const ben = await all.join('ben', { subscribe: [session] })
  const cem = await all.join('cem', { subscribe: [chat] })
  const dan = await all.join('dan', { subscribe: ['ahp-session:/other'] })
  const eve = await all.join('eve', { principal: 'eve', subscribe: ['ahp-root://', session, chat] })
  await untilIdle()
  all.world.advance(59_999)
  await untilIdle()
  expect(notesOf(ann)).toEqual([])
  all.world.advance(1)
  await untilIdle()
  const expired = (channel: string) => [{ channel, resource: github, reason: 'expired' }]
  const told = [expired('ahp-root://'), expired(session), expired(chat), [], []]
  expect([ann, ben, cem, dan, eve].map(notesOf)).toEqual(told)
  expect(await codeOf(ann.ask('createSession', { channel: 'ahp-session:/two' }))).toBe(-32007)
})
