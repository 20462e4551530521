import { memoryStore } from '@atrium/adapters/store/memory'
import { pair } from '@atrium/protocol/rpc/pair'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { expect, test } from 'vitest'
import {
  reconnectClient,
  heldHost,
  untilIdle,
  root,
  session,
  title,
  unsubscribe,
} from '../../test/held-flushes.ts'
import { Client, testHost } from '../../test/test-host.ts'
import { testWorld } from '../../test/world.ts'
import { StepRecords } from '../kernel/log/step-records.ts'
import { heldTerminal } from '../../test/held-log.ts'
import { Log } from '../kernel/log/log.ts'

// Reconnecting: faults that the simulation has found.

const titles = (client: Client) =>
  client.envelopes.flatMap(({ action, rejectionReason }) => [
    `${String((action as { title?: string }).title)}${rejectionReason === undefined ? '' : ` ${rejectionReason}`}`,
  ])

test('[L6] I6: a resend is recognized also when the client has initialized twice since', async () => {
  const all = await heldHost()
  const first = await all.ann.echo(all.ann.dispatch(session, title('once')))
  all.ann.peer.close()
  ;(await all.join('ann')).peer.close()
  const ann = await all.join('ann')
  ann.dispatch(session, title('once'), 1)
  expect((await ann.echo(1)).rejectionReason).toBe(`already accepted as ${first.serverSeq}`)
})

test("[L6] [L6.1] I6: a snapshot moves a client's last seen number past echoes that it has not received", async () => {
  const all = await heldHost()
  const first = await all.ann.echo(all.ann.dispatch(session, title('once')))
  all.ann.peer.close()
  const again = await all.join('ann', { subscribe: [session] })
  all.ben.dispatch(session, title('meanwhile'))
  await again.until(() => again.envelopes.length > 0)
  const { link, result } = await reconnectClient(all, again, again.lastSeen)
  expect(result.type).toBe('replay')
  link.dispatch(session, title('once'), 1)
  expect((await link.echo(1)).rejectionReason).toBe(`already accepted as ${first.serverSeq}`)
})

test('[L6] [L6.4] uncommitted actions of a client are delivered once, over its new link', async () => {
  const all = await heldHost()
  const { ann } = all
  await unsubscribe(ann)
  all.hold()
  ann.dispatch(session, title('slow'))
  await untilIdle()
  const link = await all.join('ann')
  link.dispatch(session, title('slow'), 1)
  all.release()
  await link.echo(1)
  await untilIdle()
  expect(titles(link)).toEqual(['slow'])
})

test('[L13] [L13.7] F-23: of two concurrent handshakes the later wins, and knows what the other has dispatched', async () => {
  const all = await heldHost()
  all.ann.peer.close()
  const older = all.link()
  const newer = all.link()
  const opened = Promise.allSettled([older.initialize('ann'), newer.initialize('ann')])
  older.dispatch(session, title('from the older'), 7)
  newer.dispatch(session, title('from the newer'), 7)
  expect((await opened).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect((await newer.echo(7)).action).toEqual(title('from the newer'))
  await untilIdle()
  expect(titles(all.ben)).toEqual(['from the newer'])
})

test('[L13] [L13.7] F-23: messages that arrive late over a closed link are ignored', async () => {
  const { host, join } = await testHost()
  const [near, far] = pair()
  // A socket that still receives messages from the other end after this side has closed it.
  const open: Transport = {
    ...near,
    close: () => {},
    send: (frame) => near.send(frame),
    receive: (listener) => near.receive(listener),
    drained: () => near.drained(),
    closed: near.closed,
    buffered: 0,
  }
  host().connect(open, 'owner')
  const old = new Client(far)
  await old.initialize('ann')
  await old.ask('createSession', { channel: session })
  const ann = await join('ann', { subscribe: [session] })
  old.dispatch(session, title('late'))
  await untilIdle()
  expect(ann.state(session)).toMatchObject({ title: '' })
})

test('[L13] [L13.8] a client that initializes again has no snapshots, also after a crash', async () => {
  const all = await heldHost()
  const { ann } = all
  ann.peer.close()
  await untilIdle()
  all.hold()
  let answered = false
  const joining = all.join('ann').finally(() => (answered = true))
  await untilIdle()
  expect(answered).toBe(false)
  all.release()
  const again = await joining
  await all.restart('crash')
  const { result } = await reconnectClient(all, again, again.lastSeen)
  expect(result.type).toBe('snapshot')
})

test('[L13] [L13.2] a snapshot has a number that its client has not seen: a client that names an older one has lost it', async () => {
  const all = await heldHost()
  const cat = await all.join('cat', { subscribe: [root] })
  const seen = cat.lastSeen
  await cat.ask('subscribe', { channel: session })
  expect(cat.lastSeen).toBeGreaterThan(seen)
  const { result } = await reconnectClient(all, cat, seen, [root, session])
  expect(result.type).toBe('snapshot')
})

test('[L13] [L13.2] while actions are uncommitted, a snapshot may have a number that the client has seen: then the number proves nothing', async () => {
  const all = await heldHost()
  const cat = await all.join('cat', { subscribe: [root] })
  all.hold()
  all.ben.dispatch(session, title('slow'))
  await untilIdle()
  const seen = cat.lastSeen
  await cat.ask('subscribe', { channel: session })
  expect(cat.lastSeen).toBe(seen)
  cat.peer.close()
  all.release()
  const { result } = await reconnectClient(all, cat, seen, [root, session])
  expect(result.type).toBe('snapshot')
})

test('[L13] a client that subscribed and received nothing since gets no second snapshot, also after a crash', async () => {
  const all = await heldHost()
  const cat = await all.join('cat', { subscribe: [root] })
  await cat.ask('subscribe', { channel: session })
  await untilIdle()
  await all.restart('crash')
  const { result } = await reconnectClient(all, cat, cat.lastSeen, [root, session])
  expect(result).toMatchObject({ type: 'replay', actions: [] })
})

test('[L13] a client that has seen nothing since its snapshots gets no second ones', async () => {
  const all = await heldHost()
  const ann = await all.join('cat', { subscribe: [root, session] })
  const { result } = await reconnectClient(all, ann, ann.lastSeen, [root, session])
  expect(result).toMatchObject({ type: 'replay', actions: [] })
})

test('[L13] [L13.6] a channel that is dropped while a client reconnects is neither in the response nor after it', async () => {
  const all = await heldHost()
  const { ann, ben } = all
  ann.peer.close()
  const { dispatchedBy } = all.store().log
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  all.store().log.dispatchedBy = (...asked) => gate.then(() => dispatchedBy(...asked))
  const coming = reconnectClient(all, ann, ann.lastSeen, [root, session])
  await untilIdle()
  all.hold()
  ben.dispatch(session, title('last words'))
  void ben.ask('disposeSession', { channel: session })
  await untilIdle()
  go()
  await untilIdle()
  all.release()
  const { link } = await coming
  await untilIdle()
  expect(link.states.has(session)).toBe(false)
  expect(titles(link).filter((text) => text === 'last words')).toEqual([])
})

test('[H1] [H1.5] a notification during the handshake waits for the response', async () => {
  const all = await heldHost()
  const { ann, ben } = all
  ann.peer.close()
  const { dispatchedBy } = all.store().log
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  all.store().log.dispatchedBy = (...asked) => gate.then(() => dispatchedBy(...asked))
  const link = all.link()
  const order: string[] = []
  const { peer } = link
  const asked = peer.request(
    'reconnect',
    { channel: root, clientId: 'ann', lastSeenServerSeq: ann.lastSeen, subscriptions: [root] },
    () => order.push(`answered after ${link.notes.length} notes`),
  )
  await untilIdle()
  await ben.ask('createSession', { channel: 'ahp-session:/two' })
  ben.dispatch('ahp-session:/two', title('used'))
  await untilIdle()
  go()
  await asked
  await link.until(() => link.notes.length > 0)
  expect(order).toEqual(['answered after 0 notes'])
  expect(link.notes[0]).toMatchObject({ method: 'root/sessionAdded' })
})

test('[L9] [L9.2] a channel with ephemeral actions stays awake until its head is durable', async () => {
  const tasks: (() => void)[] = []
  const store = memoryStore({ soon: (task) => void tasks.push(task) })
  const flush = async () => {
    for (let n = 0; n < 5; n++) {
      await untilIdle()
      for (const task of tasks.splice(0)) task()
    }
  }
  const events = { appended: () => {}, committed: () => {}, fatal: () => {} }
  const log = new Log(store.log, testWorld(), events, {
    records: new StepRecords(store.records),
    first: 1000,
  })
  const begun = log.begin()
  await flush()
  await begun
  const uri = 'ahp-terminal:/1'
  const terminal = log.create(uri, 'terminal', heldTerminal('ann'))
  await flush()
  log.append(terminal, { type: 'terminal/data', data: 'only here' } as never)
  await untilIdle()
  expect([log.sleep(terminal), log.sleep(terminal)]).toEqual([false, false])
  await flush()
  expect(log.sleep(terminal)).toBe(true)
  expect((await log.wake(uri))?.head).toEqual(terminal.head)
})

test('[L9] [I8] [L9.12] a response that waited for the disk is not overtaken by the next', async () => {
  const all = await heldHost()
  const { ann, ben } = all
  for (const client of [ann, ben]) await unsubscribe(client)
  all.world.advance(60_000)
  const order: string[] = []
  const ask = (channel: string) => ann.ask('subscribe', { channel }).then(() => order.push(channel))
  await Promise.all([ask(session), ask(root)])
  expect(order).toEqual([session, root])
})

test('[H1] [H1.5] a host that is shutting down accepts no link', async () => {
  const { host } = await testHost()
  await host().close()
  const [near, far] = pair()
  const codes: unknown[] = []
  const { close } = near
  near.close = (code, reason) => {
    codes.push(code)
    close.call(near, code, reason)
  }
  host().connect(near, 'owner')
  await expect(new Client(far).initialize('late')).rejects.toThrow('closed')
  expect(codes).toEqual([1001])
})

test('[L12] [L13] actions during a slow read do not close the link that waits for it', async () => {
  const store = memoryStore()
  const answers: (() => void)[] = []
  let slow = false
  const dispatchedBy = async (...asked: Parameters<typeof store.log.dispatchedBy>) => {
    if (slow) await new Promise<void>((resolve) => answers.push(resolve))
    return store.log.dispatchedBy(...asked)
  }
  const all = await testHost({ disk: { ...store, log: { ...store.log, dispatchedBy } } })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: session })
  slow = true
  const returned = reconnectClient(all, ben, ben.lastSeen)
  await untilIdle()
  const text = 'x'.repeat(100_000)
  for (let i = 0; i < 50; i++) await ann.echo(ann.dispatch(session, title(`${i}${text}`)))
  for (const answer of answers) answer()
  const { link, result } = await returned
  expect(result).toMatchObject({ type: 'snapshot', snapshots: [{ state: { title: `49${text}` } }] })
  await ann.echo(ann.dispatch(session, title('last')))
  await link.until(() => link.state(session)['title'] === 'last')
})

test('[L6] [I5] a resend whose echo has arrived over the new link is not answered again', async () => {
  const { hold, release, ...all } = await heldHost()
  const cid = await all.join('cid')
  hold()
  const clientSeq = cid.dispatch(session, title('once'))
  await untilIdle()
  cid.peer.close()
  const again = await all.join('cid')
  release()
  await again.echo(clientSeq)
  again.dispatch(session, title('once'), clientSeq)
  await again.echo(again.dispatch(session, title('twice'), clientSeq + 1))
  const own = again.envelopes.filter(({ origin }) => origin?.clientSeq === clientSeq)
  expect(own).toHaveLength(1)
})
