import { expect, test } from 'vitest'
import { readyAgent } from '../test/agents.ts'
import { back } from '../test/held.ts'
import type { Client } from '../test/room.ts'
import { chat, chatOf, message, talk, turn } from '../test/talk.ts'

const turnsOf = (client: Client) => chatOf(client).turns.map(({ id }) => id)

test('[L13] who has the newest turns only is not left with them by a replay that cuts before them', async () => {
  const { all, ann } = await talk(readyAgent())
  for (let i = 0; i < 6; i++) await turn(ann, `t${i}`)
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: chat, view: { turns: 2 } })
  ann.dispatch(chat, { type: 'chat/draftChanged', draft: message('Hm') })
  await ben.until(() => chatOf(ben).draft !== undefined)
  ben.peer.close()
  await ann.echo(ann.dispatch(chat, { type: 'chat/truncated', turnId: 't1' }))
  const { link, result } = await back(all, ben, ben.lastSeen, [chat])
  expect(result.type).toBe('snapshot')
  expect(turnsOf(link)).toEqual(['t0', 't1'])
})
