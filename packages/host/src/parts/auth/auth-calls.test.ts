import { tokensOf } from './tokens.ts'
import { guide } from '@atrium/adapters/guide'
import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { toolCallStarted, call, complete, mcp, result, running } from '../../../test/tool-call-actions.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import type { Client } from '../../../test/test-host.ts'
import {
  chat,
  chatOf,
  message,
  session,
  sessionOf,
  started,
  oneClientSession,
} from '../../../test/one-client-session.ts'
import {
  github,
  optional,
  door,
  guarded,
  give,
  codeOf,
  notesOf,
  signIn,
  waiting,
  statusOf,
} from '../../../test/auth/sign-in.ts'

test('[J10] authenticate resolves a call that waits for it; the agent goes on with the token', async () => {
  const { ann, run } = await waiting()
  expect(run.chat.token(door.resource)).toBeUndefined()
  expect(await give(ann, door.resource)).toEqual({})
  expect(statusOf(ann)).toBe('running')
  expect(sessionOf(ann).inputNeeded).toBeUndefined()
  expect(ann.envelopes.map(({ action }) => action.type)).toContain('chat/toolCallAuthResolved')
  expect(run.chat.token(door.resource)).toBe('T')
  run.say({ type: 'chat/toolCallComplete', ...call, ...result(true) })
  run.end()
  await ann.until(() => chatOf(ann).turns.length === 1)
  // The turn is over, and with it the agent's access to the token.
  expect(run.chat.token(door.resource)).toBeUndefined()
})

test('[J10] every waiting call goes on, in all chats of the principal, and no other', async () => {
  const { all, ann, agent } = await waiting()
  await ann.ask('createChat', { channel: session, chat: 'ahp-chat:/two', initialMessage: message('go') })
  const second = await agent.given(1)
  second.say(toolCallStarted(mcp), running, signIn())
  const elsewhere = { resource: { resource: 'https://elsewhere.example' }, reason: 'required' }
  await ann.ask('createChat', { channel: session, chat: 'ahp-chat:/three', initialMessage: message('go') })
  const third = await agent.given(2)
  third.say(toolCallStarted(mcp), running, signIn({ auth: elsewhere }))
  await ann.until(() => sessionOf(ann).inputNeeded?.length === 3)
  await give(ann, door.resource)
  expect(sessionOf(ann).inputNeeded).toMatchObject([{ chat: 'ahp-chat:/three' }])
  expect(second.chat.token(door.resource)).toBe('T')
  expect(third.chat.token(door.resource)).toBeUndefined()
  expect(all.world.reports).toEqual([])
})

test('[J10] revoking a token resolves no call', async () => {
  const { ann, run } = await waiting()
  await give(ann, door.resource, '')
  expect(statusOf(ann)).toBe('auth-required')
  await give(ann, door.resource)
  expect(run.chat.token(door.resource)).toBe('T')
})

test('[J7.1] [J8.2] [J10] a token for a call may expire and be given again while the turn is active', async () => {
  const { all, ann, run } = await waiting()
  const far = await all.join('far', { subscribe: ['ahp-root://'] })
  await give(ann, door.resource, 'T', { expiresIn: 10 })
  all.world.advance(10_000)
  await untilIdle()
  expect(notesOf(ann).at(-1)).toEqual({ channel: session, resource: door, reason: 'expired' })
  expect(notesOf(far)).toEqual([])
  expect(run.chat.token(door.resource)).toBeUndefined()
  await give(ann, door.resource, 'U')
  expect(run.chat.token(door.resource)).toBe('U')
  run.end()
  await ann.until(() => chatOf(ann).turns.length === 1)
  expect(await codeOf(give(ann, door.resource))).toBe(-32602)
})

test('[J7.1] [J7] a resource that a call needs is accepted as long as the call waits', async () => {
  const { ann } = await waiting()
  ann.dispatch(chat, { ...complete, ...result(false) })
  await ann.until(() => statusOf(ann) === 'completed')
  expect(await codeOf(give(ann, door.resource))).toBe(-32602)
})

test("[J10] S-10: another principal's sign-in does not resolve a call", async () => {
  const { all, ann, run } = await waiting()
  const eve = await all.join('eve', { principal: 'eve', subscribe: [session, chat] })
  expect(await codeOf(give(eve, door.resource))).toBe(-32602)
  expect(statusOf(ann)).toBe('auth-required')
  await eve.ask('createSession', { channel: 'ahp-session:/eve' })
  await give(ann, door.resource, 'of ann')
  expect(run.chat.token(door.resource)).toBe('of ann')
})

test('[J10.1] [J10] S-48: a token that one agent declares is not given to another agent, whatever its calls ask for', async () => {
  const agent = new ScriptedAgent()
  const other = new ScriptedAgent({ provider: 'other', protectedResources: [door] })
  const { ann, run } = await waiting(agent, { agents: [agent, other] })
  await give(ann, door.resource)
  expect(statusOf(ann)).toBe('auth-required')
  expect(run.chat.token(door.resource)).toBeUndefined()
})

test('[J11] an agent gets the tokens that it declares, and no others', async () => {
  const agent = new ScriptedAgent({ protectedResources: [optional] })
  const other = new ScriptedAgent({ provider: 'other', protectedResources: [door] })
  const { ann } = await oneClientSession(agent, { agents: [agent, other] })
  await give(ann, optional.resource, 'mine')
  await give(ann, door.resource, 'theirs')
  ann.dispatch(chat, started('t1'))
  const { chat: given } = await agent.given()
  const names = [optional.resource, door.resource, '', '__proto__']
  expect(names.map((name) => given.token(name))).toEqual(['mine', undefined, undefined, undefined])
  // Each read returns the newest token.
  await give(ann, optional.resource, 'newer')
  expect(given.token(optional.resource)).toBe('newer')
  await give(ann, optional.resource, '')
  expect(given.token(optional.resource)).toBeUndefined()
  await give(ann, optional.resource, 'again')
  agent.runs[0]?.end()
  await ann.until(() => chatOf(ann).turns.length === 1)
  expect(given.token(optional.resource)).toBeUndefined()
})

test('[J10.3] [J10] a call still waits after a restart; a sign-in then lets its agent go on', async () => {
  const { all, agent } = await waiting()
  await all.restart()
  const ben = await all.join('ben', { subscribe: [session, chat] })
  expect(statusOf(ben)).toBe('auth-required')
  expect(agent.runs).toHaveLength(1)
  await give(ben, door.resource, 'U')
  const again = await agent.given(1)
  expect(again.chat.token(door.resource)).toBe('U')
  again.say({ type: 'chat/toolCallComplete', ...call, ...result(true) })
  again.end()
  await ben.until(() => chatOf(ben).turns.length === 1)
  expect(chatOf(ben).turns).toMatchObject([{ state: 'complete' }])
})

test('[J8] tokens do not survive a restart', async () => {
  const agent = guarded()
  const all = await testHost({ agents: [agent] })
  await give(await all.join('ann'), github.resource)
  await all.restart('close')
  const ann = await all.join('ann')
  expect(await codeOf(ann.ask('createSession', { channel: session }))).toBe(-32007)
})

test('[J8] the owner of a session survives a restart', async () => {
  const { all } = await waiting()
  await all.restart()
  const eve = await all.join('eve', { principal: 'eve', subscribe: [session] })
  expect(await codeOf(give(eve, door.resource))).toBe(-32602)
  const ann = await all.join('ann')
  await ann.ask('disposeSession', { channel: session })
  await all.core().log.settled()
  expect(await all.store().records.list('owner/')).toEqual([])
})

test('[J8.1] [J8] links count from the handshake on, however they end', async () => {
  const all = await testHost({ agents: [guarded()] })
  const held = () => tokensOf(all.core()).of('owner', github.resource)
  const ann = await all.join('ann')
  await give(ann, github.resource)
  // None of these links keeps the token alive: one without a handshake, one whose handshake fails, and one that replaces
  // Ann's first link and is then closed.
  const silent = all.link()
  await codeOf(all.link().ask('initialize', { protocolVersions: ['9.9.9'], clientId: 'x' }))
  const newer = await all.join('ann')
  newer.peer.close()
  await untilIdle()
  all.world.advance(3_599_999)
  expect(held()).toBe('T')
  all.world.advance(1)
  expect(held()).toBeUndefined()
  silent.peer.close()
})

test('[J10] on a read-only host a call still waits, and authenticate fails', async () => {
  const { all } = await waiting()
  await all.restart('crash', 'This host only shows what is there.')
  const ben = await all.join('ben', { subscribe: [session, chat] })
  expect(await codeOf(give(ben, door.resource))).toBe(-32009)
  expect(tokensOf(all.core()).of('owner', door.resource)).toBeUndefined()
})

test('[J10] two sign-ins at the same time: the call goes on once', async () => {
  const { all, ann } = await waiting()
  const ben = await all.join('ben', { subscribe: [chat] })
  const answers = await Promise.all([codeOf(give(ann, door.resource)), codeOf(give(ben, door.resource))])
  expect(answers).toEqual([0, 0])
  await untilIdle()
  const resolved = ben.envelopes.filter(({ action }) => action.type === 'chat/toolCallAuthResolved')
  expect(resolved).toHaveLength(1)
})

const later = (_: number, task: () => void) => {
  const immediate = setImmediate(task)
  return () => clearImmediate(immediate)
}
const guideDoor = 'https://guide.atrium.example'

/** Ann has asked the guide to sign in. */
async function atTheDoor() {
  const all = await testHost({ agents: [guide(later)] })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  ann.dispatch(chat, started('t1', 'login'))
  return { all, ann }
}

const partsOf = async (client: Client) => {
  await client.until(() => chatOf(client).turns.length === 1)
  return chatOf(client).turns[0]
}

test('[J11] the guide waits for a sign-in; a user who does not want to sign in ends the call', async () => {
  const { ann } = await atTheDoor()
  await ann.until(() => sessionOf(ann).inputNeeded !== undefined)
  expect(sessionOf(ann).inputNeeded).toMatchObject([
    { kind: 'toolAuthentication', toolCall: { auth: { resource: { resource: guideDoor } } } },
  ])
  const toolCallId = 't1-1'
  ann.dispatch(chat, { type: 'chat/toolCallComplete', turnId: 't1', toolCallId, ...result(false) })
  expect(await partsOf(ann)).toMatchObject({
    state: 'complete',
    responseParts: [{ toolCall: { status: 'completed', success: false } }, { kind: 'markdown' }],
  })
})

test('[J10] a sign-in before the request for it is committed is accepted', async () => {
  const { all, ann } = await atTheDoor()
  // The token is given in the step in which the call begins to wait, whatever the agent has seen by then.
  const { log } = all.core()
  await until(() => {
    const { activeTurn } = (log.channel(chat)?.head ?? {}) as Partial<ChatState>
    const [part] = activeTurn?.responseParts ?? []
    return part?.kind === 'toolCall' && part.toolCall.status === 'auth-required'
  })
  await give(ann, guideDoor)
  expect(await partsOf(ann)).toMatchObject({
    state: 'complete',
    responseParts: [{ toolCall: { success: true } }, { kind: 'markdown' }],
  })
})

test('[J11] a token that is revoked before the agent reads it is reported as gone', async () => {
  const { ann } = await atTheDoor()
  await ann.until(() => sessionOf(ann).inputNeeded !== undefined)
  // The token is given and revoked in one step: when the agent notices the token, it is already revoked.
  await Promise.all([give(ann, guideDoor), give(ann, guideDoor, '')])
  expect(await partsOf(ann)).toMatchObject({ responseParts: [{ toolCall: { success: false } }, {}] })
})
