import { expect, test } from 'vitest'
import { readyAgent } from '../test/agents.ts'
import { chat, chatOf, session, started, talk } from '../test/talk.ts'

test('[I13] a wish of an agent that throws ends its turn and nothing else', async () => {
  const { ann } = await talk({
    ...readyAgent(),
    async *run({ when }) {
      let looks = 0
      await when(() => {
        if (looks++ > 0) throw new Error('no such thing in this state')
        return false
      })
    },
  })
  ann.dispatch(chat, started('t'))
  await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: 'Still here' }))
  await ann.until(() => chatOf(ann).turns.length > 0)
  expect(chatOf(ann).turns).toMatchObject([{ id: 't', state: 'error' }])
})
