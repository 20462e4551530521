import type { ChatState } from '@atrium/protocol/chat/state'
import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { begun, complete, confirmed, lentBy, ready, running } from '../test/calls.ts'
import { session } from '../test/held.ts'
import { Puppet } from '../test/puppet.ts'
import type { Client } from '../test/room.ts'
import { chat, scene, turn } from '../test/scene.ts'

/** Ann takes part, and lends a tool that runs. */
async function loan(...said: Parameters<typeof turn>[2][]) {
  const all = await scene(new Puppet({ resumes: true }))
  const activeClient = { clientId: 'ann', displayName: 'Ann', tools: [] }
  await all.ann.echo(all.ann.dispatch(session, { type: 'session/activeClientSet', activeClient }))
  await turn(all, 't1', ...said)
  return all
}
const lent = [begun(lentBy('ann')), running]
const callIn = (client: Client) => {
  const [part] = (client.state(chat) as unknown as ChatState).activeTurn?.responseParts ?? []
  return part?.kind === 'toolCall' ? part.toolCall : undefined
}
const left = async (all: Awaited<ReturnType<typeof loan>>) => {
  all.ann.peer.close()
  while (all.core().links.has('ann')) await all.ben.ask('ping', {})
}
const failed = {
  status: 'completed',
  success: false,
  error: { message: 'The client that lent this tool has left' },
}

test('[X7] F-39 [S-57 toolGraceMs] at 30,000 ms a client that comes back completes its tool', async () => {
  expect(limits.toolGraceMs).toBe(30_000)
  const all = await loan(...lent)
  await left(all)
  all.world.advance(29_999)
  const ann = await all.join('ann', { subscribe: [session, chat] })
  all.world.advance(60_000)
  expect(callIn(ann)?.status).toBe('running')
  expect((await ann.echo(ann.dispatch(chat, complete))).rejectionReason).toBeUndefined()
  expect(callIn(ann)).toMatchObject({ status: 'completed', success: true })
})

test('[X7] F-39 [S-57 toolGraceMs] past 30,000 ms it has failed, once, and its client takes part all the same', async () => {
  const all = await loan(...lent)
  await left(all)
  all.world.advance(30_000)
  await all.ben.until(() => callIn(all.ben)?.status === 'completed')
  expect(callIn(all.ben)).toMatchObject(failed)
  const ann = await all.join('ann', { subscribe: [session, chat] })
  expect((await ann.echo(ann.dispatch(chat, complete))).rejectionReason).toBe('this tool call is not running')
  expect(JSON.stringify(ann.state(session)['activeClients'])).toContain('"ann"')
})

test('[X7] F-39: a host that starts again within that time waits for as long', async () => {
  const all = await loan(...lent)
  await left(all)
  all.world.advance(20_000)
  await all.restart('crash')
  const ben = await all.join('ben', { subscribe: [chat] })
  all.world.advance(20_000)
  await ben.ask('ping', {})
  expect(callIn(ben)?.status).toBe('running')
  all.world.advance(10_000)
  await ben.until(() => callIn(ben)?.status === 'completed')
  expect(callIn(ben)).toMatchObject(failed)
})

test('[X7] a tool that is allowed when its client has gone is waited for as long, and one that nobody lends fails at once', async () => {
  const all = await loan(begun(lentBy('ann')), ready())
  await left(all)
  all.world.advance(40_000)
  await all.ben.echo(all.ben.dispatch(chat, confirmed))
  expect(callIn(all.ben)?.status).toBe('running')
  all.world.advance(30_000)
  await all.ben.until(() => callIn(all.ben)?.status === 'completed')
  expect(callIn(all.ben)).toMatchObject(failed)
  const other = await scene()
  await turn(other, 't1', begun(lentBy('nobody')), running)
  await other.ann.until(() => callIn(other.ann)?.status === 'completed')
  expect(callIn(other.ann)).toMatchObject(failed)
})

test('[X7] a tool that its client has taken back fails when it is allowed, though the client is there', async () => {
  const all = await loan(begun(lentBy('ann')), ready())
  await all.ann.echo(all.ann.dispatch(session, { type: 'session/activeClientRemoved', clientId: 'ann' }))
  await all.ben.echo(all.ben.dispatch(chat, confirmed))
  await all.ben.until(() => callIn(all.ben)?.status === 'completed')
  expect(callIn(all.ben)).toMatchObject(failed)
})

test('[X7] F-39: a host that is slow to start misses whoever was to be missed meanwhile', async () => {
  const all = await loan(...lent)
  await left(all)
  const store = all.store()
  const slow = store.reopen()
  const load = slow.log.load.bind(slow.log)
  // The time is over before the chat is there whose tool is waited for.
  const late: typeof load = (uri, ...more) => {
    if (uri === chat) all.world.advance(30_000)
    return load(uri, ...more)
  }
  Object.assign(slow.log, { load: late })
  Object.assign(store, { reopen: () => slow })
  await all.restart('crash')
  const ben = await all.join('ben', { subscribe: [chat] })
  all.world.advance(30_000)
  await ben.until(() => callIn(ben)?.status === 'completed')
  expect(callIn(ben)).toMatchObject(failed)
})
