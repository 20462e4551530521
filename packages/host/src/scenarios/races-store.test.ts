import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { heldHost, untilIdle, session, title } from '../../test/held-flushes.ts'
import { testWorld } from '../../test/world.ts'
import { StepRecords } from '../kernel/log/step-records.ts'
import { emptyChat } from '../../test/held-log.ts'
import { Log } from '../kernel/log/log.ts'

// Interleavings that once went wrong.

test('[L2.5] a client that dispatches without a subscription gets its own envelopes, and no others', async () => {
  const { ben, join } = await heldHost()
  const cem = await join('cem')
  await ben.echo(ben.dispatch(session, title('from Ben')))
  expect(await cem.echo(cem.dispatch(session, title('from outside')))).toMatchObject({
    action: title('from outside'),
  })
  await ben.echo(ben.dispatch(session, title('from Ben again')))
  await cem.ask('ping', {})
  expect(cem.envelopes).toHaveLength(1)
})

test('[L2.3] a command is answered when what it has appended is durable', async () => {
  const all = await heldHost()
  all.hold()
  let answered = false
  const created = all.ann.ask('createSession', { channel: 'ahp-session:/two' }).then(() => (answered = true))
  await untilIdle()
  expect(answered).toBe(false)
  all.release()
  await created
  await all.restart('crash')
  const cem = await all.join('cem')
  await cem.ask('subscribe', { channel: 'ahp-session:/two' })
})

test('[L1] after a crash right after the echo, the session list agrees with the session', async () => {
  const all = await heldHost()
  await all.ann.echo(all.ann.dispatch(session, title('durable')))
  await all.restart('crash')
  const cem = await all.join('cem', { subscribe: [session] })
  expect(cem.state(session)).toMatchObject({ title: 'durable' })
  expect(await cem.ask('listSessions', {})).toMatchObject({ items: [{ title: 'durable' }] })
})

test('[L1] a record and the actions of its step become durable together', async () => {
  const tasks: (() => void)[] = []
  const store = memoryStore({ soon: (task) => tasks.push(task) })
  const records = new StepRecords(store.records)
  const events = { appended: () => {}, committed: () => {}, fatal: () => {} }
  const log = new Log(store.log, testWorld(), events, { records, first: 1000 })
  const begun = log.begin()
  // The flush of `begin` ends in the middle of this step: after the record and before the channel.
  records.put('session/1', 'listed')
  for (const task of tasks.splice(0)) task()
  log.create('ahp-chat:/1', 'chat', emptyChat('ahp-chat:/1'))
  await begun
  const disk = store.reopen()
  expect([await disk.records.get('session/1'), await disk.log.load('ahp-chat:/1')]).toEqual([
    undefined,
    undefined,
  ])
})

test('[L9] a channel that was created while the disk was asked for it is the same channel', async () => {
  const store = memoryStore()
  const events = { appended: () => {}, committed: () => {}, fatal: () => {} }
  const log = new Log(store.log, testWorld(), events, {
    records: new StepRecords(store.records),
    first: 1000,
  })
  await log.begin()
  const { load } = store.log
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  store.log.load = (uri) => gate.then(() => load(uri))
  const woken = log.wake('c')
  const created = log.create('c', 'chat', emptyChat('c'))
  await log.settled()
  go()
  expect(await woken).toBe(created)
  expect(log.channel('c')).toBe(created)
})

test('[L2] I13: a link that cannot be written to does not keep the others from the action', async () => {
  const store = memoryStore()
  const events = { appended: () => {}, committed: () => {}, fatal: () => {} }
  const log = new Log(store.log, testWorld(), events, {
    records: new StepRecords(store.records),
    first: 1000,
  })
  await log.begin()
  const channel = log.create('c', 'chat', emptyChat('c'))
  const delivered: string[] = []
  channel.listeners.add({
    notify() {},
    deliver() {
      throw new Error('deaf')
    },
  })
  channel.listeners.add({ notify() {}, deliver: (entry) => void delivered.push(entry.action.type) })
  for (let i = 0; i < 2; i++) await log.reached(log.append(channel, { type: 'chat/activityChanged' }).seq)
  expect(delivered).toHaveLength(2)
})

test('[H3] I13: a channel that cannot be read closes neither the link nor the host', async () => {
  const all = await heldHost()
  all.ann.peer.notify('unsubscribe', { channel: session })
  const unhandled: unknown[] = []
  process.once('unhandledRejection', (error) => unhandled.push(error))
  all.store().log.load = () => Promise.reject(new Error('the disk cannot be read'))
  all.ann.dispatch('ahp-session:/other', title('x'))
  await untilIdle()
  expect(unhandled).toEqual([])
  expect(all.world.reports).toContainEqual(expect.objectContaining({ event: 'connection' }))
})

test('[H2] [L2] the session list shows only committed entries, which no crash can take back', async () => {
  const { ann, ben, hold, release } = await heldHost()
  const listed = async () => (await ben.ask('listSessions', {})).items.map(({ resource }) => resource)
  await ann.echo(ann.dispatch(session, title('one')))
  hold()
  const created = ann.ask('createSession', { channel: 'ahp-session:/two' })
  ann.dispatch('ahp-session:/two', title('two'))
  const gone = ann.ask('disposeSession', { channel: session })
  await untilIdle()
  expect(await listed()).toEqual([session])
  release()
  await Promise.all([created, gone])
  await untilIdle()
  expect(await listed()).toEqual(['ahp-session:/two'])
})
