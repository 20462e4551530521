import { errorCodes } from '@atrium/protocol/errors'
import { expect, test } from 'vitest'
import { readyAgent } from '../../../test/agents.ts'
import { days } from '../../../test/held-flushes.ts'
import { chat, chatOf, oneClientSession, started } from '../../../test/one-client-session.ts'

test('[L19] [L19.1] a client that was away for 90 days gets a replay, and after that must initialize, and its actions still count', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  ann.dispatch(chat, started('t1'))
  const { clientSeq } = ann
  await ann.until(() => chatOf(ann).turns.length === 1)
  const lastSeenServerSeq = ann.lastSeen
  const reconnect = () =>
    all.link().ask('reconnect', { clientId: 'ann', lastSeenServerSeq, subscriptions: [chat] })
  ann.peer.close(1000, '')
  await days(all, 90)
  const back = all.link()
  const result = await back.ask('reconnect', { clientId: 'ann', lastSeenServerSeq, subscriptions: [chat] })
  expect(result).toMatchObject({ type: 'replay' })
  back.peer.close(1000, '')
  await days(all, 92)
  await expect(reconnect()).rejects.toMatchObject({ code: errorCodes.NotFound })
  await expect(all.join('ann', { principal: 'mallory' })).rejects.toThrow('another principal')
  const again = await all.join('ann', { subscribe: [chat] })
  const { rejectionReason } = await again.echo(again.dispatch(chat, started('t1'), clientSeq))
  expect(rejectionReason).toMatch(/already accepted as \d+/)
  expect(chatOf(again).turns).toHaveLength(1)
})

test('[L19] a read-only host tidies nothing', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  ann.peer.close(1000, '')
  await all.restart('close', 'it is a copy')
  const before = await all.store().records.list('client/')
  await days(all, 100)
  expect(await all.store().records.list('client/')).toEqual(before)
})
