import { describe, expect, test } from 'vitest'
import { desk } from '../../../test/approvals.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'
import { supportedVersions } from '../../kernel/generation.ts'

const session = 's:/1'

async function at(version: OlderClient['version']) {
  const { all, ann } = await desk()
  const client = new OlderClient(all, version)
  await client.open()
  return { all, ann, client }
}

type Desk = Awaited<ReturnType<typeof at>>

/** Runs some turns in the session of the desk. */
async function turns({ ann, client }: Desk, count: number): Promise<void> {
  await client.subscribe(session)
  if (!client.merged) await client.subscribe(client.turnsOf(session))
  const own = () => client.state(client.turnsOf(session))['turns'] as readonly Value[]
  for (let n = 1; n <= count; n++) {
    const message = { text: `say ${n}`, origin: { kind: 'user' } }
    const startedAt = '2026-01-01T00:00:00Z'
    const chat = 'ahp-chat://default/czovMQ'
    ann.dispatch(chat, { type: 'chat/turnStarted', turnId: `t${n}`, startedAt, message })
    await client.until(() => own().length === n)
  }
}

describe('[V8] commands of older versions', () => {
  test.each(['0.1.0', '0.3.0', '0.4.0', '0.5.0'] as const)(
    '[V8.8] [V16.2] fetchTurns at %s returns a page',
    async (version) => {
      const desk = await at(version)
      await turns(desk, 3)
      const { client } = desk
      const uri = client.turnsOf(session)
      const newest = await client.ask('fetchTurns', { limit: 2 }, uri)
      expect(newest).toMatchObject({ turns: [{ id: 't2' }, { id: 't3' }], hasMore: true })
      const older = await client.ask('fetchTurns', { before: 't2', limit: 5 }, uri)
      expect(older).toMatchObject({ turns: [{ id: 't1' }], hasMore: false })
      // A page has the form of the version.
      const [shown] = client.state(uri)['turns'] as readonly Value[]
      expect((older['turns'] as readonly Value[])[0]).toEqual(shown)
      await expect(client.ask('fetchTurns', { before: 'none' }, uri)).rejects.toMatchObject({
        code: -32602,
      })
    },
  )

  test.each(supportedVersions)(
    '[H2.4] a subscription at %s to a session that does not exist is answered with -32001',
    async (version) => {
      const { client } = await at(version)
      for (const uri of ['guide:/none', 'ahp-session:/none'])
        await expect(client.subscribe(uri), uri).rejects.toMatchObject({ code: -32001 })
      for (const uri of ['other:/none', 'ahp-chat:/none', 'ahp-session:/none/annotations', 'guide:/'])
        await expect(client.subscribe(uri), uri).rejects.toMatchObject({ code: -32008 })
    },
  )

  test.each(['0.1.0', '0.4.0'] as const)(
    '[V8.8] listSessions at %s returns all sessions',
    async (version) => {
      const { client, ann } = await at(version)
      for (let n = 0; n < 120; n++) {
        const channel = `ahp-session:/n${n}`
        await ann.ask('createSession', { channel })
        await ann.echo(ann.dispatch(channel, { type: 'session/titleChanged', title: `n${n}` }))
      }
      const { items } = await client.ask('listSessions', { filter: {} })
      const named = (items as readonly Value[]).filter(({ title }) => String(title).startsWith('n'))
      expect(named).toHaveLength(120)
      const [first] = named
      expect(typeof first?.['createdAt']).toBe('number')
      expect(first?.['resource']).toMatch(version === '0.1.0' ? /^guide:\/n/ : /^ahp-session:\/n/)
    },
  )

  test.each(['0.1.0', '0.4.0', '0.8.0'] as const)(
    '[HC-32] createSession at %s copies the turns of another session',
    async (version) => {
      const desk = await at(version)
      await turns(desk, 3)
      const { client } = desk
      const uri = 'guide:/copy'
      await client.createSession(uri, { provider: 'guide', fork: { session, turnId: 't2' } })
      await client.subscribe(client.turnsOf(uri))
      expect(client.state(client.turnsOf(uri))['turns']).toMatchObject([{ id: 't1' }, { id: 't2' }])
      const none = client.createSession('guide:/none', { fork: { session, turnId: 'none' } })
      await expect(none).rejects.toMatchObject({ code: -32602 })
      const unknown = client.createSession('guide:/none', { fork: { session: 'guide:/x', turnId: 't1' } })
      await expect(unknown).rejects.toMatchObject({ code: -32001 })
    },
  )
})

test.each(['0.1.0', '0.4.0', '0.8.0'] as const)(
  '[V8] [V11] a terminal is claimed at %s for a session, and then for the client',
  async (version) => {
    const { client, ann } = await at(version)
    const terminal = 'ahp-terminal:/t'
    const claim = { kind: 'session', session }
    await client.ask('createTerminal', { claim }, terminal)
    await client.subscribe(terminal)
    expect(client.state(terminal)['claim']).toEqual(claim)
    const { snapshot } = await ann.ask('subscribe', { channel: terminal })
    expect(snapshot?.state).toMatchObject({ claim: { ...claim, chat: 'ahp-chat://default/czovMQ' } })
    const own = { kind: 'client', clientId: client.clientId }
    for (const next of [own, claim]) {
      const echo = await client.echo(client.dispatch(terminal, { type: 'terminal/claimed', claim: next }))
      expect(echo.rejectionReason).toBeUndefined()
      expect(client.state(terminal)['claim']).toEqual(next)
    }
  },
)

test('[V8] [HC-18] a client that offers 0.5.0 is served as the released 0.5.0', async () => {
  const { client } = await at('0.5.0')
  await client.subscribe(session)
  expect(client.state(session)).toMatchObject({ title: '', activeClients: [] })
  expect(client.state(session)).not.toHaveProperty('summary')
})

test('[V8] [HC-33] a session has the name that its creator chose, in every version but 0.1 also if it is ahp-session', async () => {
  const { all, ann } = await desk()
  const uris = ['guide:/chosen', 'ahp-session:/chosen-too']
  for (const channel of uris) {
    await ann.ask('createSession', { channel, provider: 'guide' })
    await ann.echo(ann.dispatch(channel, { type: 'session/titleChanged', title: 'Chosen' }))
  }
  for (const version of supportedVersions) {
    const client = new OlderClient(all, version)
    await client.open()
    const { items } = await client.ask('listSessions', {})
    const names = (items as readonly Value[])
      .filter(({ title }) => title === 'Chosen')
      .map(({ resource }) => resource)
    expect(new Set(names)).toEqual(
      new Set(version === '0.1.0' ? ['guide:/chosen', 'guide:/chosen-too'] : uris),
    )
  }
})

describe('[V8] 0.1', () => {
  test('[V8.4] [HC-1] [HC-17] names sessions by aliases, and tells every client about the list', async () => {
    const { ann, client } = await at('0.1.0')
    const channel = 'ahp-session:/x'
    await ann.ask('createSession', { channel })
    await ann.echo(ann.dispatch(channel, { type: 'session/titleChanged', title: 'Named' }))
    const added = () =>
      client.notes.find(({ params }) => JSON.stringify(params).includes('guide:/x'))?.params['notification']
    await client.until(() => added() !== undefined)
    expect(added()).toMatchObject({ type: 'notify/sessionAdded', summary: { resource: 'guide:/x' } })
    await client.subscribe('guide:/x')
    expect(client.state('guide:/x')).toMatchObject({ summary: { resource: 'guide:/x', title: 'Named' } })
    await client.subscribe('agenthost:/root')
    const echo = await client.echo(
      client.dispatch('guide:/x', { type: 'session/titleChanged', title: 'Other' }),
    )
    expect(echo).not.toHaveProperty('channel')
    expect(echo.action).toEqual({ type: 'session/titleChanged', title: 'Other', session: 'guide:/x' })
    // Whatever it writes, it reads aliases.
    await client.subscribe(channel)
    expect([...client.states.keys()]).not.toContain(channel)
    await ann.echo(ann.dispatch(channel, { type: 'session/titleChanged', title: 'Third' }))
    await client.until(() => JSON.stringify(client.state('guide:/x')).includes('Third'))
    await ann.ask('disposeSession', { channel })
    await client.until(() =>
      client.notes.some(({ params }) => JSON.stringify(params).includes('notify/sessionRemoved')),
    )
    expect(client.notes.every(({ method }) => method === 'notification')).toBe(true)
  })

  test('takes the provider from the scheme of the URI, and a model as a text', async () => {
    const { client } = await at('0.1.0')
    await client.createSession('guide:/mine', { model: 'small' })
    await client.subscribe('guide:/mine')
    expect(client.state('guide:/mine')).toMatchObject({
      summary: { provider: 'guide', model: { id: 'small' } },
    })
  })

  test.each(['createChat', 'resourceResolve', 'createResourceWatch', 'moveChat'])(
    '%s is unknown',
    async (method) => {
      const { client } = await at('0.1.0')
      await expect(client.ask(method, {})).rejects.toMatchObject({ code: -32601 })
    },
  )

  test('[V8.2] one unsubscribe ends the session and its turns', async () => {
    const desk = await at('0.1.0')
    const { client, ann, all } = desk
    await turns(desk, 1)
    client.unsubscribe(session)
    const other = new OlderClient(all, '0.1.0', 'other')
    await other.open([session])
    const before = client.envelopes.length
    const message = { text: 'say more', origin: { kind: 'user' } }
    const startedAt = '2026-01-01T00:00:00Z'
    ann.dispatch('ahp-chat://default/czovMQ', { type: 'chat/turnStarted', turnId: 'u', startedAt, message })
    await other.until(() => (other.state(session)['turns'] as readonly unknown[]).length === 2)
    await untilIdle()
    expect(client.envelopes.length).toBe(before)
  })

  test('[V8.3] [HC-2] another chat of the session is a session of its own, which is not listed', async () => {
    const { client, ann } = await at('0.1.0')
    const chat = 'ahp-chat:/second'
    await ann.ask('createChat', { channel: session, chat })
    const name = `${session}/chat/${encodeURIComponent(chat)}`
    await client.subscribe(name)
    expect(client.state(name)).toMatchObject({ summary: { resource: name }, turns: [] })
    const userMessage = { text: 'say there' }
    client.dispatch(name, { type: 'session/turnStarted', turnId: 'w', userMessage })
    await client.until(() => (client.state(name)['turns'] as readonly unknown[]).length === 1)
    const { items } = await client.ask('listSessions', {})
    expect((items as readonly Value[]).map(({ resource }) => resource)).not.toContain(name)
    await expect(client.subscribe(chat)).rejects.toMatchObject({ code: -32008 })
    await expect(client.subscribe(`guide:/other/chat/${encodeURIComponent(chat)}`)).rejects.toBeDefined()
    await client.ask('disposeSession', {}, name)
    await expect(client.subscribe(name)).rejects.toBeDefined()
  })
})

describe('[V8] bad input of older versions', () => {
  const act = (action: Value & { type: string }) => action
  test.each([
    ['0.1.0', act({ type: 'chat/turnStarted', turnId: 'x' }), 'is not an action of AHP 0.1.0'],
    ['0.4.0', act({ type: 'session/turnStarted', turnId: 'x' }), 'is not an action of AHP 0.4.0'],
    [
      '0.6.0',
      act({ type: 'session/workingDirectorySet', directory: 'file:///w' }),
      'is not an action of AHP 0.6.0',
    ],
    ['0.1.0', act({ type: 'session/titleChanged' }), 'session/titleChanged'],
  ] as const)('[V8.5] [V8.7] %s is refused in its own dialect: %o', async (version, action, reason) => {
    const { client } = await at(version)
    await client.subscribe(session)
    const before = client.state(session)
    const { rejectionReason, action: refused } = await client.echo(client.dispatch(session, action))
    expect(rejectionReason).toContain(reason)
    expect(refused).toEqual(client.nested ? { ...action, session } : action)
    expect(client.state(session)).toBe(before)
  })

  test('an action of 0.1 without its session is refused', async () => {
    const { client } = await at('0.1.0')
    await client.subscribe(session)
    const { rejectionReason } = await client.echo(
      client.dispatchBare({ type: 'session/titleChanged', title: 'x' }),
    )
    expect(rejectionReason).toBe('session/titleChanged: session: is missing')
  })

  test('[V8.1] a member is named as the version names it', async () => {
    const { client } = await at('0.1.0')
    await expect(client.ask('subscribe', { resource: undefined })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('resource'),
    })
    await expect(client.ask('createSession', { session: undefined })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('session'),
    })
  })

  test('[V8.7] a client that comes back in another form than it left in is refused', async () => {
    const { all, client } = await at('0.1.0')
    await client.subscribe(session)
    client.unplug()
    const other = all.link()
    const back = { clientId: client.clientId, lastSeenServerSeq: client.lastSeen, subscriptions: [session] }
    await expect(other.ask('reconnect', back)).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('AHP 0.1.0'),
    })
    expect((await client.reconnect())['type']).toBe('replay')
  })
})
