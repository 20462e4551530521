import { expect, test } from 'vitest'
import { readyAgent } from '../../../test/agents.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import type { Client } from '../../../test/test-host.ts'
import type { Chat } from '../../ports/agent.ts'
import { chat, chatOf, message, started, oneClientSession, turn } from '../../../test/one-client-session.ts'

const steered = { type: 'chat/pendingMessageSet', kind: 'steering', id: 'm', message: message('And this') }

test('[H9] a steering message in an idle chat waits for the next turn, and starts one after it if it was not read', async () => {
  const { ann } = await oneClientSession(readyAgent())
  await turn(ann, 't')
  await ann.echo(ann.dispatch(chat, steered))
  expect(chatOf(ann)).toMatchObject({ steeringMessage: { id: 'm' }, turns: [{ id: 't' }] })
  await turn(ann, 'u')
  await ann.until(() => chatOf(ann).turns.length === 3)
  expect(chatOf(ann).turns[2]).toMatchObject({ message: { text: 'And this' }, state: 'complete' })
  expect(chatOf(ann).steeringMessage).toBeUndefined()
})

const queued = (id: string) => ({
  type: 'chat/pendingMessageSet',
  kind: 'queued',
  id,
  message: message(`Do ${id}`),
})
const cancelled = (turnId: string) => ({ type: 'chat/turnCancelled', turnId, duration: 1 })
const queueOf = (client: Client) => chatOf(client).queuedMessages?.map(({ id }) => id) ?? []

/** An agent that works on the turns whose text begins with `wait` until they are cancelled, and completes all others. */
const waiting = () => ({
  ...readyAgent(),
  async *run(given: Chat) {
    yield* []
    if (given.state.activeTurn?.message.text.startsWith('wait')) await new Promise(() => {})
  },
})

/** A chat whose turn was cancelled while a steering message and two queued messages waited. */
async function stopped() {
  const found = await oneClientSession(waiting())
  const { ann } = found
  ann.dispatch(chat, { ...started('t'), message: message('wait') })
  for (const action of [steered, queued('a'), queued('b')]) ann.dispatch(chat, action)
  await ann.echo(ann.dispatch(chat, cancelled('t')))
  return found
}

test('[H9.7] [H9.12] after a cancelled turn the waiting messages are held, also through a restart and a further message', async () => {
  const { all, ann } = await stopped()
  await ann.echo(ann.dispatch(chat, queued('c')))
  await all.restart('crash')
  const ben = await all.join('ben', { subscribe: [chat] })
  await ben.echo(ben.dispatch(chat, queued('d')))
  expect(queueOf(ben)).toEqual(['a', 'b', 'c', 'd'])
  expect(chatOf(ben)).toMatchObject({
    steeringMessage: { id: 'm' },
    turns: [{ id: 't', state: 'cancelled' }],
  })
  expect(chatOf(ben).activeTurn).toBeUndefined()
})

test.each([
  ['another message', () => ({ ...started('u'), message: message('Go on') })],
  ['a held message', () => ({ ...started('u'), message: message('Do a'), queuedMessageId: 'a' })],
])('[H9.7] a turn with %s starts the held messages when it has completed', async (_, start) => {
  const { ann } = await stopped()
  await ann.echo(ann.dispatch(chat, start()))
  await ann.until(() => chatOf(ann).turns.at(-1)?.message.text === 'Do b')
  const texts = chatOf(ann).turns.map((each) => each.message.text)
  expect(texts.slice(2)).toEqual(['And this', ...(texts[1] === 'Do a' ? [] : ['Do a']), 'Do b'])
})

test.each([
  ['no turn', undefined, []],
  ['a completed last turn', 's', ['Say s']],
])(
  '[H9.12] a truncation that leaves %s starts the held queue, and the steering message after it',
  async (_, turnId, left) => {
    const { ann } = await oneClientSession(waiting())
    ann.dispatch(chat, { ...started('s'), message: message('Say s') })
    await ann.until(() => chatOf(ann).turns.length === 1)
    ann.dispatch(chat, { ...started('t'), message: message('wait') })
    for (const action of [steered, queued('a')]) ann.dispatch(chat, action)
    await ann.echo(ann.dispatch(chat, cancelled('t')))
    expect(queueOf(ann)).toEqual(['a'])
    ann.dispatch(chat, { type: 'chat/truncated', ...(turnId !== undefined && { turnId }) })
    await ann.until(() => chatOf(ann).turns.at(-1)?.message.text === 'And this')
    expect(chatOf(ann).turns.map((each) => each.message.text)).toEqual([...left, 'Do a', 'And this'])
  },
)

test('[H9.7] after a cancelled turn, a message that is queued when no other waits starts at once', async () => {
  const { ann } = await oneClientSession(waiting())
  ann.dispatch(chat, { ...started('t'), message: message('wait') })
  await ann.echo(ann.dispatch(chat, cancelled('t')))
  ann.dispatch(chat, queued('a'))
  await ann.until(() => chatOf(ann).turns.length === 2)
  expect(chatOf(ann).turns[1]).toMatchObject({ message: { text: 'Do a' }, state: 'complete' })
})

test('[H9.13] a message that was queued behind a turn is held, also if it comes after the turn was cancelled', async () => {
  const { all, ann } = await oneClientSession(waiting())
  ann.dispatch(chat, { ...started('t'), message: message('wait') })
  await ann.echo(ann.dispatch(chat, cancelled('t')))
  const late = { ...queued('a'), message: { ...message('Do a'), _meta: { 'x-atrium': { behind: 't' } } } }
  await ann.echo(ann.dispatch(chat, late))
  await all.restart('crash')
  const ben = await all.join('ben', { subscribe: [chat] })
  expect(queueOf(ben)).toEqual(['a'])
  await ben.echo(ben.dispatch(chat, { ...started('u'), message: message('Go on') }))
  await ben.until(() => chatOf(ben).turns.length === 3)
  expect(chatOf(ben).turns.map((each) => each.message.text)).toEqual(['wait', 'Go on', 'Do a'])
  // The turn before is no reason to wait: the message was written in sight of another end.
  await ben.echo(ben.dispatch(chat, { ...late, id: 'b' }))
  await ben.until(() => chatOf(ben).turns.length === 4)
})

test('[H9.7] a call whose end is committed late does not end the turn that has begun since', async () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  const agent = {
    ...readyAgent(),
    async *run(given: Chat) {
      if (given.state.activeTurn?.message.text !== 'call') return yield* []
      yield { type: 'chat/toolCallStart', toolCallId: 'c', toolName: 'x', displayName: 'x' } as const
      yield {
        type: 'chat/toolCallReady',
        toolCallId: 'c',
        invocationMessage: 'x',
        confirmed: 'not-needed',
      } as const
      await opened
      yield {
        type: 'chat/toolCallComplete',
        toolCallId: 'c',
        result: { success: true, pastTenseMessage: 'x' },
      } as const
    },
  }
  const tasks: (() => void)[] = []
  let holding = false
  const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
  const { ann } = await oneClientSession(agent, { soon })
  await ann.echo(ann.dispatch(chat, { ...started('t'), message: message('call') }))
  await ann.until(() => chatOf(ann).activeTurn?.responseParts.length === 1)
  await ann.echo(ann.dispatch(chat, queued('a')))
  await untilIdle()
  holding = true
  open()
  await untilIdle()
  holding = false
  for (const task of tasks.splice(0)) task()
  await ann.until(() => chatOf(ann).turns.length === 2)
  expect(chatOf(ann).turns.map(({ state }) => state)).toEqual(['complete', 'complete'])
})
