import { expect, test } from 'vitest'
import { readyAgent } from '../../test/agents.ts'
import { chat, chatOf, message, started, oneClientSession, turn } from '../../test/one-client-session.ts'

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

test('[H9] the steering message of a cancelled turn starts the next turn', async () => {
  const { ann } = await oneClientSession({
    ...readyAgent(),
    async *run() {
      yield* []
      await new Promise(() => {})
    },
  })
  ann.dispatch(chat, started('t'))
  await ann.echo(ann.dispatch(chat, steered))
  ann.dispatch(chat, { type: 'chat/turnCancelled', turnId: 't', duration: 1 })
  await ann.until(() => chatOf(ann).activeTurn?.message.text === 'And this')
  expect(chatOf(ann).turns).toMatchObject([{ id: 't', state: 'cancelled' }])
})
