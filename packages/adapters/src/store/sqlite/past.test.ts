import { expect, test } from 'vitest'
import { PartList } from '../../../../host/src/kernel/part-list.ts'
import { history } from '../../../../host/src/parts/history/part.ts'
import { patientAgent } from '../../../../host/test/agents.ts'
import { askEnvelopes, askState, folded, pages } from '../../../../host/test/history/past.ts'
import { chat, chatOf, oneClientSession, started } from '../../../../host/test/one-client-session.ts'
import { newFolder, open } from '../../../test/store-folder.ts'

/** A chat on SQLite with a long turn. */
async function longTurn(deltas: number) {
  const store = await open(newFolder())
  const reopen = (): never => {
    throw new Error('this test does not restart its host, nor share its store')
  }
  const { all, ann } = await oneClientSession(patientAgent(), { disk: { ...store, reopen, share: reopen } })
  ann.dispatch(chat, started('t1'))
  await ann.until(() => chatOf(ann).activeTurn?.responseParts.length === 1)
  const { log } = all.core()
  for (let i = 0; i < deltas; i++) {
    const channel = log.channel(chat, 'chat')
    const text = { type: 'chat/delta', turnId: 't1', partId: 't1#0', content: `word ${i} ` } as const
    if (channel) log.append(channel, text)
  }
  await log.settled()
  return { store, all, ann, log }
}

test('[L22] [L23] sealed segments of SQLite are read as if they were not sealed', async () => {
  const { store, all, ann, log } = await longTurn(3000)
  const { ends } = await askEnvelopes(ann, { limit: 1 })
  const open = await pages(ann, { limit: 500 })
  for (let more = true; more;) ({ more } = await store.log.seal(chat, ends - 100, 1))
  // A host that has nothing in memory reads the segments.
  const fresh = new PartList()
  await fresh.open([history], all.core(), {})
  Object.assign(all.core().parts, { commands: fresh.commands })
  expect(await pages(ann, { limit: 500 })).toEqual(open)
  for (const at of [1, 700, 1500, 2900, open.total]) {
    const some = open.envelopes.slice(0, at)
    const { snapshot, position } = await askState(ann, some.at(-1)?.serverSeq ?? 0)
    expect(position).toBe(at)
    expect(await folded(ann, open, some, open.gaps)).toEqual(snapshot?.state)
  }
  expect(log.committedSeq).toBeGreaterThanOrEqual(ends)
  await all.host().close()
})

test('[L22] [L23] a damaged segment is an error, and nothing is shown', async () => {
  const { store, all, ann } = await longTurn(200)
  const { log } = store
  const { read } = log
  log.read = (channels, after, upTo) =>
    channels.includes(chat) && upTo > after
      ? Promise.reject(new Error('chain'))
      : read.call(log, channels, after, upTo)
  await expect(askEnvelopes(ann)).rejects.toMatchObject({ code: -32603 })
  log.read = read
  expect(await askEnvelopes(ann)).toHaveProperty('total')
  await all.host().close()
})
