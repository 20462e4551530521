import { tokensOf } from './tokens.ts'
import { expect, test } from 'vitest'
import { SignInRequired } from '../../ports/agent.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import {
  chat,
  chatOf,
  oneClientSession,
  session,
  sessionOf,
  started,
} from '../../../test/one-client-session.ts'
import { codeOf, door, give, notesOf, waiting } from '../../../test/auth/sign-in.ts'

const note = { channel: session, resource: door, reason: 'required' }

test('[J9.3] an agent that refuses a turn until a sign-in: the links of the session are told; the turn goes on', async () => {
  const agent = new ScriptedAgent({ resumes: true, protectedResources: [{ ...door, required: false }] })
  const { all, ann } = await oneClientSession(agent)
  const eve = await all.join('eve', { principal: 'eve', subscribe: [session, chat] })
  ann.dispatch(chat, started('t1'))
  ;(await agent.given()).fail(new SignInRequired('Sign in at the door.', [door], 'expired'))
  await ann.until(() => chatOf(ann).turns.length === 1 && notesOf(ann).length > 0)
  expect(chatOf(ann).turns[0]).toMatchObject({
    state: 'error',
    responseParts: [
      { error: { errorType: 'auth-required', message: 'Sign in at the door.' }, resumable: true },
    ],
  })
  expect(notesOf(ann)).toEqual([{ ...note, reason: 'expired' }])
  expect(notesOf(eve)).toEqual([])
  await give(ann, door.resource)
  ann.dispatch(chat, { type: 'chat/turnResume', turnId: 't1' })
  ;(await agent.given(1)).end()
  await ann.until(() => chatOf(ann).turns[0]?.state === 'complete')
})

/** A host whose agent refuses to create a session until the test says `open`. Ann has created one. */
async function refusedCreation() {
  const gate = { isOpen: false }
  const agent = new ScriptedAgent({
    create: () =>
      gate.isOpen ? Promise.resolve() : Promise.reject(new SignInRequired('Sign in at the door.', [door])),
  })
  const all = await testHost({ agents: [agent] })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  await ann.until(() => sessionOf(ann).activity !== undefined)
  return { all, ann, agent, gate }
}

test('[H7.10] a creation that needs a sign-in is no failure: the session says so, and goes on after the sign-in', async () => {
  const { ann, agent, gate } = await refusedCreation()
  expect(sessionOf(ann)).toMatchObject({ lifecycle: 'creating', activity: 'Sign in at the door.' })
  // A sign-in that does not help is asked for again.
  await give(ann, door.resource)
  await until(() => agent.created.length === 2)
  await untilIdle()
  expect(sessionOf(ann).lifecycle).toBe('creating')
  gate.isOpen = true
  await give(ann, door.resource)
  await ann.until(() => sessionOf(ann).lifecycle === 'ready')
  expect(sessionOf(ann).activity).toBeUndefined()
  expect(notesOf(ann).at(-1)).toEqual(note)
  expect(await codeOf(give(ann, door.resource))).toBe(-32602)
})

test("[H7.10] another principal's sign-in does not count, and a disposed session waits no more", async () => {
  const { all, ann } = await refusedCreation()
  const eve = await all.join('eve', { principal: 'eve' })
  expect(await codeOf(give(eve, door.resource))).toBe(-32602)
  await ann.ask('disposeSession', { channel: session })
  await untilIdle()
  expect(await codeOf(give(ann, door.resource))).toBe(-32602)
  expect(all.world.reports).toEqual([])
})

test('[H7.10] after a restart the creation asks again', async () => {
  const { all, agent, gate } = await refusedCreation()
  await all.restart('crash')
  await until(() => agent.created.length === 2)
  const ann = await all.join('ann', { subscribe: [session] })
  gate.isOpen = true
  await give(ann, door.resource)
  await ann.until(() => sessionOf(ann).lifecycle === 'ready')
})

test('[J10.2] a call that waits for a sign-in is also announced, for clients whose version has no such status', async () => {
  const { ann } = await waiting()
  await ann.until(() => notesOf(ann).length > 0)
  expect(notesOf(ann)).toEqual([note])
})

test('[J7.4] an agent that refuses a sign-in: authenticate fails with -32007, and the token is dropped', async () => {
  const agent = new ScriptedAgent({
    protectedResources: [{ ...door, required: false }],
    signIn: (_, token) =>
      token === 'good' ? Promise.resolve() : Promise.reject(new SignInRequired('A wrong key.', [door])),
  })
  const all = await testHost({ agents: [agent] })
  const ann = await all.join('ann')
  await expect(give(ann, door.resource, 'bad')).rejects.toMatchObject({
    code: -32007,
    message: 'A wrong key.',
    data: { resources: [{ ...door, required: false }] },
  })
  expect(tokensOf(all.core()).of('owner', door.resource)).toBeUndefined()
  await give(ann, door.resource, 'good')
  expect(tokensOf(all.core()).of('owner', door.resource)).toBe('good')
})

test('[J7.5] a resource that takes no bearer token: the agent signs in by itself, and nothing is kept', async () => {
  const seen: string[] = []
  const browser = { ...door, bearer_methods_supported: [] }
  const agent = new ScriptedAgent({
    protectedResources: [browser],
    signIn: (resource) => Promise.resolve(void seen.push(resource)),
  })
  const all = await testHost({ agents: [agent] })
  const ann = await all.join('ann')
  await give(ann, door.resource, 'sign in')
  expect(seen).toEqual([door.resource])
  expect(tokensOf(all.core()).of('owner', door.resource)).toBeUndefined()
})

test('[J9.4] an agent that says itself which tokens it lacks: any of them is enough, and its turns begin without one', async () => {
  const resources = [door, { resource: 'https://window.example' }]
  const scripted = new ScriptedAgent({ protectedResources: resources })
  const agent = Object.assign(scripted, {
    missing: (has: (resource: string) => boolean) =>
      resources.some(({ resource }) => has(resource)) ? [] : resources,
  })
  const all = await testHost({ agents: [agent] })
  const ann = await all.join('ann')
  const create = () => ann.ask('createSession', { channel: session })
  await expect(create()).rejects.toMatchObject({ code: -32007, data: { resources } })
  await give(ann, 'https://window.example')
  await create()
  await ann.ask('subscribe', { channel: chat })
  await give(ann, 'https://window.example', '')
  ann.dispatch(chat, started('t1'))
  ;(await agent.given()).end()
  await ann.until(() => chatOf(ann).turns[0]?.state === 'complete')
})
