import { expect, test } from 'vitest'
import { readyAgent } from '../test/agents.ts'
import { chat, session, talk } from '../test/talk.ts'

const ready = readyAgent()
const agent = { ...ready, info: { ...ready.info, capabilities: { multipleChats: {} } } }

test('[P9] the name that some clients have for a default chat is never given to another', async () => {
  const { ann } = await talk(agent)
  const alias = `${session}/chat`
  await expect(ann.ask('createChat', { channel: session, chat: alias })).rejects.toMatchObject({
    code: -32010,
  })
  const { snapshot } = await ann.ask('subscribe', { channel: alias })
  expect(snapshot).toMatchObject({ resource: alias, state: { resource: chat } })
})
