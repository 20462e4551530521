import { expect, test } from 'vitest'
import {
  begins,
  does,
  ends,
  listTold,
  listed,
  olderClients,
  olderSession,
  summaryOf,
  told,
  turnOf,
} from '../../../../test/versions/older-session.ts'
import type { OlderClient, Value } from '../../../../test/versions/older-client.ts'

const version = '0.1.0'
const changesTo = (client: OlderClient) => told(client, 'sessionSummaryChanged')

test('[R000-133] the list comes as a whole', async () => {
  const { ann, ben } = await olderClients(version)
  for (let n = 0; n < 120; n++) await ann.createSession(`mock:/n${n}`)
  const answer = await ben.ask('listSessions', {})
  expect(Object.keys(answer)).toEqual(['items'])
  expect(new Set((answer['items'] as readonly Value[]).map(({ resource }) => resource)).size).toBe(120)
})

test('[R000-134] the creation and the end of a session are told to every connected client', async () => {
  const { all, ann, ben, session } = await olderClients(version)
  ben.unsubscribe(ben.root)
  await ann.createSession(session)
  await listTold(all)
  const [entry] = await listed(ben)
  await ann.ask('disposeSession', {}, session)
  await listTold(all)
  for (const client of [ann, ben])
    expect(client.notes).toEqual([
      { method: 'notification', params: { notification: { type: 'notify/sessionAdded', summary: entry } } },
      { method: 'notification', params: { notification: { type: 'notify/sessionRemoved', session } } },
    ])
})

test('[R000-135 R000-136 R000-138 R000-139] the changes of title, status, time and model are told without a subscription, collected, and with the changed members only', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  ben.unsubscribe(session)
  await listTold(all)
  ben.notes.length = 0
  const changed = async (...actions: readonly Parameters<typeof does>[2][]) => {
    for (const action of actions) await does(ann, session, action)
    await listTold(all)
    const notes = changesTo(ben).map(({ session: of, changes }) => [of, changes])
    ben.notes.length = 0
    return notes
  }
  const title = (text: string) => ({ type: 'session/titleChanged', title: text })
  // Several changes in quick succession are one notification.
  const [first, ...more] = await changed(title('one'), title('two'))
  expect([first, more]).toEqual([[session, { title: 'two' }], []])
  const model = { id: 'deep' }
  expect(await changed({ type: 'session/modelChanged', model })).toMatchObject([[session, { model }]])
  expect(await changed({ type: 'session/isReadChanged', isRead: true })).toEqual([[session, { status: 33 }]])
  all.world.advance(60_000)
  const [begun] = await changed(begins(ann, 't1'))
  expect(begun).toMatchObject([session, { status: 8 }])
  ;(await all.agent.given(0)).end()
  await ann.until(() => ann.state(session)['activeTurn'] === undefined)
  await listTold(all)
  const merged = Object.assign({}, ...changesTo(ben).map(({ changes }) => changes)) as Value
  expect(merged).toMatchObject({ status: 1, modifiedAt: expect.any(Number) })
  const [entry] = await listed(ben)
  expect({ ...entry, ...(begun?.[1] as Value), ...merged }).toEqual(entry)
})

test('[R000-135] project and directory are told with the session', async () => {
  const all = await olderSession(version, { params: { workingDirectory: 'file:///home/shop' } })
  await listTold(all)
  expect(told(all.ben, 'sessionAdded')).toMatchObject([
    {
      summary: {
        resource: all.session,
        workingDirectory: 'file:///home/shop',
        project: { uri: 'file:///home/shop', displayName: 'shop' },
      },
    },
  ])
})

test('[R000-140 R000-141] no notification is repeated to a client that comes back; it asks for the list again', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  await listTold(all)
  ben.unplug()
  ben.notes.length = 0
  await does(ann, session, { type: 'session/titleChanged', title: 'Missed' })
  await ann.createSession('mock:/missed')
  await listTold(all)
  const answer = await ben.reconnect([session])
  expect(Object.keys(answer).toSorted()).toEqual(['actions', 'missing', 'type'])
  expect((answer['actions'] as readonly { action: Value }[]).map(({ action }) => action['type'])).toEqual([
    'session/titleChanged',
  ])
  const titles = new Map((await listed(ben)).map(({ resource, title }) => [resource, title]))
  expect(titles).toEqual(
    new Map([
      ['mock:/missed', ''],
      [session, 'Missed'],
    ]),
  )
  expect(summaryOf(ben, session)['title']).toBe('Missed')
  await ends(all, await turnOf(all, 't1'))
})
