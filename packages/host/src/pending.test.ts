import { expect, test } from 'vitest'
import { readyAgent } from '../test/agents.ts'
import { chat, chatOf, message, talk, turn } from '../test/talk.ts'

test('[W8] a steering message that comes just after the end of its turn is a turn of its own', async () => {
  const { ann } = await talk(readyAgent())
  await turn(ann, 't')
  const late = { type: 'chat/pendingMessageSet', kind: 'steering', id: 'm', message: message('And this') }
  await ann.echo(ann.dispatch(chat, late))
  await ann.until(() => chatOf(ann).turns.length === 2)
  expect(chatOf(ann).turns[1]).toMatchObject({ message: { text: 'And this' }, state: 'complete' })
  expect(chatOf(ann).steeringMessage).toBeUndefined()
})
