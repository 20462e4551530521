import { expect, test } from 'vitest'
import { patientAgent, readyAgent } from '../../test/agents.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import type { Client } from '../../test/test-host.ts'
import { idsOf, read, turnsIn } from '../../test/several-chats.ts'
import { chat, chatOf, session, sessionOf, started, oneClientSession } from '../../test/one-client-session.ts'

const cut = (turnId?: string) => ({ type: 'chat/truncated', ...(turnId !== undefined && { turnId }) })
const texts = (client: Client) => chatOf(client).turns.map(({ message }) => message.text)

/** Edits an earlier message: the turns from that message on are removed, and a turn with the new text starts. */
async function resend(
  client: Client,
  before: string | undefined,
  turnId: string,
  text: string,
): Promise<void> {
  client.dispatch(chat, cut(before))
  client.dispatch(chat, started(turnId, text))
  await client.until(() => chatOf(client).turns.at(-1)?.id === turnId)
}

test('[H11] [H11.5] an edited message truncates the chat before it, and the chat goes on from there', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  await turnsIn(ann, chat, ['t1', 't2', 't3'])
  const ben = await all.join('ben', { subscribe: [session, chat] })
  const [first] = chatOf(ann).turns
  await resend(ann, 't1', 't4', 'in other words')
  expect(texts(ann)).toEqual(['say t1', 'in other words'])
  expect(chatOf(ann).turns[0]).toBe(first)
  expect(chatOf(ann).turns[1]).toMatchObject({
    state: 'complete',
    responseParts: [{ content: 'Hello from the test.' }],
  })
  await ben.until(() => chatOf(ben).turns.at(-1)?.id === 't4')
  expect(chatOf(ben).turns).toEqual(chatOf(ann).turns)
  await resend(ann, undefined, 't5', 'all anew')
  expect(texts(ann)).toEqual(['all anew'])
})

test('[H11] [H11.5] a message is edited in a chat that is only partly in memory, after a restart and before another', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  const ids = Array.from({ length: 70 }, (_, i) => `t${i}`)
  await turnsIn(ann, chat, ids)
  await all.restart()
  const ben = await all.join('ben', { subscribe: [session] })
  await ben.ask('subscribe', { channel: chat, view: { turns: 2 } })
  await resend(ben, 't3', 'again', 'in other words')
  expect(idsOf(chatOf(ben))).toEqual(['t3', 'again'])
  await all.restart()
  const eve = await all.join('eve')
  expect(idsOf(await read(eve, chat))).toEqual(['t0', 't1', 't2', 't3', 'again'])
  // The old text may be sent again under its old turn id.
  await resend(eve, 't2', 't3', 'once more')
  expect(idsOf(chatOf(eve))).toEqual(['t0', 't1', 't2', 't3'])
  expect(texts(eve).at(-1)).toBe('once more')
})

test("[H11] a message is edited during its turn: that turn has ended, and its agent's output is ignored", async () => {
  const agent = patientAgent()
  const { ann } = await oneClientSession(agent)
  agent.finish('t1')
  agent.finish('t3')
  await turnsIn(ann, chat, ['t1'])
  ann.dispatch(chat, started('t2'))
  await ann.until(() => chatOf(ann).activeTurn?.responseParts.length === 1)
  await resend(ann, 't1', 't3', 'in other words')
  agent.finish('t2')
  await untilIdle()
  expect(idsOf(chatOf(ann))).toEqual(['t1', 't3'])
  expect(sessionOf(ann).chats[0]).toMatchObject({ status: chatOf(ann).status })
})
