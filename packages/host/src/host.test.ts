import { expect, test } from 'vitest'
import { room } from '../test/room.ts'

const root = 'ahp-root://'
const session = 'ahp-session:/one'

test('[H1] initialize answers with the version, the number, who we are, and the snapshots asked for', async () => {
  const { link } = await room()
  const ann = link()
  const result = await ann.initialize('ann', [root, 'ahp-session:/nowhere'])
  expect(result).toMatchObject({
    protocolVersion: '1.0.0',
    serverInfo: { name: 'atrium' },
    _meta: { 'x-atrium': { resends: true } },
    snapshots: [
      {
        resource: root,
        state: { agents: [{ provider: 'mock' }], _meta: { hostBuild: 'test' } },
        fromSeq: result.serverSeq,
      },
    ],
  })
})

test('[H1] ping is answered before the handshake, everything else is refused, and a second handshake too', async () => {
  const { link } = await room()
  const ann = link()
  expect(await ann.ask('ping', {})).toBeNull()
  await expect(ann.ask('listSessions', {})).rejects.toMatchObject({ code: -32600 })
  await ann.initialize('ann')
  await expect(ann.initialize('ann')).rejects.toMatchObject({ code: -32600 })
  await expect(ann.peer.request('constructor', {})).rejects.toMatchObject({ code: -32601 })
})

test('[H2] a session is created, listed, announced to root subscribers alone, and disposed', async () => {
  const { join } = await room()
  const ann = await join('ann', { subscribe: [root] })
  const ben = await join('ben')
  expect(await ann.ask('createSession', { channel: session, provider: 'mock' })).toBeNull()
  await ann.until(() => ann.notes.length > 0)
  expect(ann.notes).toMatchObject([
    { method: 'root/sessionAdded', params: { summary: { resource: session } } },
  ])
  expect(await ben.ask('listSessions', {})).toMatchObject({
    items: [{ resource: session, provider: 'mock' }],
  })
  await ben.ask('subscribe', { channel: session })
  expect(ben.state(session)).toMatchObject({ lifecycle: 'ready' })
  await ben.ask('disposeSession', { channel: session })
  await ann.until(() => ann.notes.length > 1)
  expect(ann.notes[1]).toMatchObject({ method: 'root/sessionRemoved', params: { session } })
  expect(ben.notes).toEqual([])
  expect(ann.state(root)).toMatchObject({ activeSessions: 0 })
  await expect(ben.ask('createSession', { channel: session })).rejects.toMatchObject({ code: -32003 })
  await expect(ben.ask('createSession', { channel: 'x:/2', provider: 'no' })).rejects.toMatchObject({
    code: -32002,
  })
  await expect(ben.ask('disposeSession', { channel: session })).rejects.toMatchObject({ code: -32001 })
})

test('[L2] an action is echoed to its sender and told to everyone else, in one order', async () => {
  const { join } = await room()
  const ann = await join('ann')
  const ben = await join('ben')
  await ann.ask('createSession', { channel: session })
  await Promise.all([ann, ben].map((client) => client.ask('subscribe', { channel: session })))
  const seq = ann.dispatch(session, { type: 'session/titleChanged', title: 'Hello' })
  const echo = await ann.echo(seq)
  await ben.until(() => ben.state(session)['title'] === 'Hello')
  expect(ben.envelopes).toEqual([echo])
  expect(ann.state(session)).toEqual(ben.state(session))
})
