import { expect, test } from 'vitest'
import { readyAgent } from '../../test/agents.ts'
import { reconnectClient } from '../../test/held-flushes.ts'
import { chat, message, session, oneClientSession } from '../../test/one-client-session.ts'

const ready = readyAgent()
const agent = { ...ready, info: { ...ready.info, capabilities: { multipleChats: {} } } }

test('[P9] the name that some clients use for a default chat cannot be given to another chat', async () => {
  const { ann } = await oneClientSession(agent)
  const alias = `${session}/chat`
  await expect(ann.ask('createChat', { channel: session, chat: alias })).rejects.toMatchObject({
    code: -32010,
  })
  const { snapshot } = await ann.ask('subscribe', { channel: alias })
  expect(snapshot).toMatchObject({ resource: alias, state: { resource: chat } })
})

test('[P9] a dispatch under the client’s own name is echoed under that name, with a subscription or without', async () => {
  const { all } = await oneClientSession(agent)
  const ben = await all.join('ben')
  const alias = `${session}/chat`
  const { channel } = await ben.echo(ben.dispatch(alias, { type: 'chat/draftChanged', draft: message('Hm') }))
  expect(channel).toBe(alias)
  await ben.ask('subscribe', { channel: chat })
  const again = await ben.echo(ben.dispatch(alias, { type: 'chat/draftChanged', draft: message('Hm!') }))
  expect(again.channel).toBe(chat)
})

test('[P9] a reconnect under the client’s own name replays under that name', async () => {
  const { all, ann } = await oneClientSession(agent)
  const alias = `${session}/chat`
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: alias })
  ann.dispatch(chat, { type: 'chat/draftChanged', draft: message('Hm') })
  await ben.until(() => ben.envelopes.length > 0)
  ben.peer.close()
  await ann.echo(ann.dispatch(chat, { type: 'chat/draftChanged', draft: message('Hm!') }))
  const { result } = await reconnectClient(all, ben, ben.lastSeen, [alias])
  expect(result).toMatchObject({ type: 'replay', actions: [{ channel: alias }], missing: [] })
})
