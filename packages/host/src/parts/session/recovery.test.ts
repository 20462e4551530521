import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { askingAgent, lateAgent } from '../../../test/agents.ts'
import { testHost } from '../../../test/test-host.ts'
import { chat, chatOf, sessionOf, started, oneClientSession, turn } from '../../../test/one-client-session.ts'
import type { Agent } from '../../ports/agent.ts'

const asked: Agent = { ...askingAgent(), resumes: true }
const allowed = {
  type: 'chat/toolCallConfirmed',
  turnId: 't',
  toolCallId: 't#call',
  approved: true,
  confirmed: 'user-action',
}

/** A turn with a tool call that asks, after its host was killed and started again. */
async function interrupted(agent: Agent) {
  const { all, ann } = await oneClientSession(agent)
  ann.dispatch(chat, started('t'))
  await ann.until(() => sessionOf(ann).inputNeeded !== undefined)
  await all.restart()
  const ben = await all.join('ben', { subscribe: [chat] })
  return { all, ben }
}

test('[N3] a question stays open over a restart, and the answer resumes its turn', async () => {
  let runs = 0
  const { ben } = await interrupted({
    ...asked,
    async *run(chat, signal) {
      if (runs++ === 0) yield* asked.run(chat, signal)
      else
        yield {
          type: 'chat/toolCallComplete',
          toolCallId: 't#call',
          result: { success: true, pastTenseMessage: 'Ran' },
        }
    },
  })
  expect(chatOf(ben).activeTurn).toMatchObject({ id: 't' })
  expect(runs).toBe(1)
  ben.dispatch(chat, allowed)
  await ben.until(() => chatOf(ben).turns.length > 0)
  expect(chatOf(ben).turns).toMatchObject([{ id: 't', state: 'complete' }])
  expect(runs).toBe(2)
})

test('[N3] a question stays open over a restart also where its agent cannot resume; the answer ends its turn with an error', async () => {
  const { ben } = await interrupted(askingAgent())
  expect(chatOf(ben).activeTurn).toMatchObject({ id: 't' })
  ben.dispatch(chat, allowed)
  await ben.until(() => chatOf(ben).turns.length > 0)
  expect(chatOf(ben).turns).toMatchObject([{ id: 't', state: 'error' }])
})

test('[I13] a turn of a removed agent ends with an error that says so', async () => {
  const agents = [askingAgent('mock'), askingAgent('other')]
  const { all } = await oneClientSession(askingAgent(), { agents })
  agents.shift()
  await all.restart()
  const ben = await all.join('ben', { subscribe: [chat] })
  await turn(ben, 't')
  expect(chatOf(ben).turns).toMatchObject([
    { state: 'error', responseParts: [{ error: { errorType: 'provider' } }] },
  ])
})

test('[W5] a turn that waits for its session runs after a restart, however fast the session is created', async () => {
  const agent = lateAgent('acme')
  const all = await testHost({ agents: [agent] })
  const ann = await all.join('ann')
  // The session's URI sorts before its chat's, so the session is woken first.
  const uri = 'acme:/one'
  await ann.ask('createSession', { channel: uri })
  await ann.echo(ann.dispatch(defaultChatUri(uri), started('t')))
  agent.finish(uri)
  await all.restart()
  const ben = await all.join('ben', { subscribe: [defaultChatUri(uri)] })
  await ben.until(() => chatOf(ben, defaultChatUri(uri)).turns.length > 0)
  expect(chatOf(ben, defaultChatUri(uri)).turns).toMatchObject([{ id: 't', state: 'complete' }])
})
