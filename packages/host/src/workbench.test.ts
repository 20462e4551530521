import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { failingAgent, lateAgent, patientAgent, readyAgent, words } from '../test/agents.ts'
import { quiet } from '../test/held.ts'
import { room } from '../test/room.ts'
import type { Client, Room, RoomOptions } from '../test/room.ts'
import { sameAsHost } from '../test/witness.ts'
import type { Message } from '../test/witness.ts'
import { Workbench } from '../test/workbench.ts'
import { spoken } from './handshake.ts'
import { TurnFailed } from './ports/agent.ts'
import type { Agent } from './ports/agent.ts'

const noKey = new TurnFailed('auth', 'There is no key for this agent.')

// Until the core speaks 0.9 there is nobody to talk to.
describe.skipIf(!spoken.includes('0.9.0'))("VS Code's workbench", () => {
  test('[W2] opens: its version, agents with models, settings that nobody else reads, words that nobody knows', async () => {
    const { bench } = await stage(readyAgent())
    await bench.settled()
    expect(bench.link.heard[0]).toMatchObject({ id: 1, result: { protocolVersion: '0.9.0' } })
    expect(bench.root.agents).toMatchObject([
      { provider: 'mock', models: [{ provider: 'mock', name: 'One' }] },
    ])
    const own = bench.link.envelopes.map(({ origin }) => origin?.clientSeq)
    expect(own).toEqual([0, 0, 0, 0, 0, 0, 0, ...Array.from({ length: 26 }, (_, n) => n + 1)])
    expect(bench.root.config?.values).toMatchObject({
      telemetryLevel: 'off',
      'feature.0': true,
      'feature.12': true,
    })
    await expect(bench.ask('vscode/anything', {})).rejects.toMatchObject({ code: -32601 })
    await expect(bench.ask('moveChat', { channel: rootUri })).rejects.toMatchObject({ code: -32601 })
    expect(await bench.ping()).toBe(null)
    expect(bench.link.problems).toEqual([])
  })

  test('[W3] chooses an agent: a session that is not listed, with a chat from its birth', async () => {
    const { bench, watcher } = await stage(lateAgent())
    await bench.choose()
    const settings = bench.link.heard.filter(
      ({ result }) => (result as { schema?: object } | undefined)?.schema,
    )
    expect(settings).toHaveLength(5)
    for (const { result } of settings)
      expect(result).toMatchObject({ schema: { type: 'object' }, values: {} })
    const chat = defaultChatUri(bench.session)
    await bench.settled()
    expect(bench.link.session(bench.session)).toMatchObject({
      provider: 'mock',
      title: '',
      status: 1,
      lifecycle: 'creating',
      activeClients: [{ clientId: bench.clientId, tools: [{ name: 'tool0' }, { name: 'tool1' }] }],
      chats: [
        { resource: chat, title: '', status: 1, modifiedAt: expect.any(String), origin: { kind: 'user' } },
      ],
      defaultChat: chat,
      workingDirectories: ['file:///home/ann/project'],
    })
    const changeset = bench.ask('subscribe', { channel: `${bench.session}/changeset/uncommitted` })
    await expect(changeset).rejects.toMatchObject({ code: -32008 })
    expect(await bench.list()).toEqual({ items: [] })
    expect(watcher.notes).toEqual([])
    await sound(bench)
  })

  test('[W4] prompts: the session it left is never spoken of, the new one is announced with its first turn', async () => {
    const { bench, watcher, all } = await stage(readyAgent())
    await bench.choose()
    const abandoned = bench.session
    const turn = await bench.prompt('Say hello')
    const { link, session } = bench
    await link.until(() => link.notes('root/sessionAdded').length > 0)
    await ended(bench, turn)
    await watcher.until(() => JSON.stringify(watcher.notes).includes(session))
    const created = link.at(({ id, method }) => method === undefined && id === createId(bench, 1))
    const added = link.at(({ method }) => method === 'root/sessionAdded')
    expect(created).toBeGreaterThan(0)
    expect(added).toBeGreaterThan(created)
    expect(added).toBeGreaterThan(link.at((message) => typeOf(message) === 'chat/turnStarted'))
    for (const notes of [link.notes('root/sessionAdded'), told(watcher, 'root/sessionAdded')])
      expect(notes).toMatchObject([
        {
          channel: rootUri,
          summary: {
            resource: session,
            provider: 'mock',
            createdAt: expect.any(String),
            modifiedAt: expect.any(String),
          },
        },
      ])
    expect(JSON.stringify([watcher.notes, watcher.envelopes])).not.toContain(abandoned)
    expect(JSON.stringify(link.heard.filter(({ method }) => method?.startsWith('root/')))).not.toContain(
      abandoned,
    )
    expect(await bench.list()).toMatchObject({
      items: [{ resource: session, title: expect.stringMatching(/./) }],
    })
    await sound(bench, all)
  })

  test('[W5] prompts while its session is being made: the turn is echoed at once, waits, and is not lost', async () => {
    const agent = lateAgent()
    const { bench, all } = await stage(agent)
    await bench.choose()
    const abandoned = bench.session
    const turn = await bench.prompt('Say hello')
    await bench.settled()
    await quiet()
    expect(agent.abandoned).toEqual([abandoned])
    expect(agent.ran).toEqual([])
    expect(bench.link.session(bench.session).lifecycle).toBe('creating')
    expect(bench.link.chat(bench.chat).activeTurn).toMatchObject({ id: turn, responseParts: [] })
    agent.finish(bench.session)
    await ended(bench, turn)
    expect(agent.ran).toEqual([bench.chat])
    const heard = bench.link.envelopes.map(({ action }) => action.type)
    expect(heard.indexOf('session/ready')).toBeGreaterThan(heard.indexOf('chat/turnStarted'))
    expect(heard.indexOf('chat/responsePart')).toBeGreaterThan(heard.indexOf('session/ready'))
    await sound(bench, all)
  })

  test('[W6] prompts for a session that cannot be made: it fails, and its turn ends with it, in one step', async () => {
    const agent = lateAgent()
    const flushes: (() => void)[] = []
    let stepwise = false
    const soon = (task: () => void) => void (stepwise ? flushes.push(task) : queueMicrotask(task))
    const { bench, all } = await stage(agent, { soon })
    await bench.choose()
    const turn = await bench.prompt('Say hello')
    await bench.settled()
    stepwise = true
    agent.fail(bench.session, noKey)
    const failed = () => bench.link.session(bench.session).lifecycle === 'failed'
    for (await quiet(); !failed(); await quiet()) flushes.shift()?.()
    // Not one flush more.
    expect(bench.link.chat(bench.chat)).toMatchObject({
      turns: [{ id: turn, state: 'error', duration: expect.any(Number), responseParts: [{ kind: 'error' }] }],
    })
    expect(bench.link.chat(bench.chat).activeTurn).toBeUndefined()
    expect(bench.link.session(bench.session).creationError).toMatchObject({
      message: noKey.message,
    })
    expect(agent.ran).toEqual([])
    stepwise = false
    for (const flush of flushes.splice(0)) flush()
    await sound(bench, all)
  })

  test('[W6] the same when it fails before it is asked for anything', async () => {
    const { bench, all } = await stage(failingAgent(noKey))
    await bench.choose()
    const turn = await bench.prompt('Say hello')
    await bench.link.until(() => bench.link.session(bench.session).lifecycle === 'failed')
    await bench.settled()
    const { turns, activeTurn } = bench.link.chat(bench.chat)
    expect(activeTurn).toBeUndefined()
    // A session that has failed may refuse the turn, or take it and end it: it is never left open.
    expect(turns.every(({ id, state }) => id === turn && state === 'error')).toBe(true)
    await sound(bench, all, ['chat/turnStarted'])
  })

  test('[W7] a turn is streamed, ends with its duration, names its session, and is read', async () => {
    const { bench, all } = await stage(readyAgent())
    await bench.choose()
    const turn = await bench.prompt('Say hello')
    await ended(bench, turn)
    const { link, session, chat } = bench
    const said = link.envelopes.filter(({ channel, origin }) => channel === chat && !origin)
    expect(said.map(({ action }) => action.type)).toEqual([
      'chat/responsePart',
      ...words.map(() => 'chat/delta'),
      'chat/turnComplete',
    ])
    expect(link.chat(chat).turns).toMatchObject([
      {
        id: turn,
        state: 'complete',
        duration: expect.any(Number),
        message: { text: 'Say hello', model: { id: '@provider=test:mock-1' } },
        responseParts: [{ kind: 'markdown', content: words.join('') }],
      },
    ])
    await link.until(() => link.session(session).title !== '')
    bench.read()
    await bench.settled()
    const { title, lifecycle } = link.session(session)
    expect(lifecycle).toBe('ready')
    expect(await bench.list()).toMatchObject({ items: [{ resource: session, title, status: 33 }] })
    await ended(bench, bench.start('And again'))
    await sound(bench, all)
  })

  test('[W8] steers a turn and cancels it: both come back, and nothing of the turn comes later', async () => {
    const agent = patientAgent()
    const { bench, all } = await stage(agent)
    await bench.choose()
    const turn = await bench.prompt('Count')
    const { link, chat } = bench
    bench.read()
    const steering = bench.steer('faster')
    await link.until(() => JSON.stringify(link.chat(chat).activeTurn).includes('faster: yes'))
    expect(link.envelopes.map(({ action }) => action)).toContainEqual({
      type: 'chat/pendingMessageRemoved',
      kind: 'steering',
      id: steering,
    })
    expect(link.chat(chat).steeringMessage).toBeUndefined()
    bench.cancel(turn, 4603)
    await bench.settled()
    expect(link.chat(chat)).toMatchObject({
      turns: [{ id: turn, state: 'cancelled', duration: 4603 }],
    })
    const before = link.envelopes.filter(({ channel }) => channel === chat).length
    agent.finish(turn)
    await quiet()
    expect(link.envelopes.filter(({ channel }) => channel === chat)).toHaveLength(before)
    const next = bench.start('Again')
    agent.finish(next)
    await ended(bench, next)
    await sound(bench, all)
  })

  test('[W9] lends its tools sixteen times: each is echoed to it, and others hear what changed', async () => {
    const { bench, all, watcher } = await stage(readyAgent())
    await bench.choose()
    await ended(bench, await bench.prompt('Say hello'))
    await watcher.ask('subscribe', { channel: bench.session })
    for (const tools of [2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5]) bench.lend(tools)
    bench.read()
    await bench.settled()
    await watcher.until(() => watcher.envelopes.some(({ action }) => action.type === 'session/isReadChanged'))
    const lent = ({ action }: { action: { type: string } }) => action.type === 'session/activeClientSet'
    expect(bench.link.envelopes.filter(lent)).toHaveLength(16)
    expect(watcher.envelopes.filter(lent)).toHaveLength(3)
    await sound(bench, all)
  })

  test('[W10] comes back without naming a channel, and hears what it missed', async () => {
    const { bench, all, watcher } = await stage(readyAgent())
    await bench.choose()
    const abandoned = bench.session
    await ended(bench, await bench.prompt('Say hello'))
    await bench.settled()
    const { session, chat } = bench
    bench.link.transport.close()
    await watcher.ask('subscribe', { channel: session })
    await watcher.echo(watcher.dispatch(session, { type: 'session/titleChanged', title: 'Meanwhile' }))
    // It never let go of the session that it disposed of.
    const result = await bench.comeBack(all.wire()[1], [rootUri, abandoned, session, chat])
    expect(bench.link.session(session).title).toBe('Meanwhile')
    expect(bench.link.followed.has(abandoned)).toBe(false)
    expect(result).toMatchObject({ type: 'replay', missing: [abandoned] })
    await bench.settled()
    await ended(bench, bench.start('And again'))
    await sound(bench, all)
  })

  test('[W10] begins anew on the same link where nobody knows it, and opens its session again', async () => {
    const { bench, all } = await stage(readyAgent())
    await bench.choose()
    await ended(bench, await bench.prompt('Say hello'))
    const stranger = new Workbench(all.wire()[1], { clientId: 'window-2' })
    await stranger.comeBack(all.wire()[1], [rootUri, bench.session])
    expect(stranger.link.errors).toMatchObject([{ asked: { method: 'reconnect' }, code: -32008 }])
    expect([...stranger.link.followed.keys()]).toEqual([rootUri])
    const { items } = (await stranger.list()) as { items: { resource: string }[] }
    await stranger.reopen(items[0]?.resource ?? '')
    await stranger.settled()
    expect(stranger.link.chat(stranger.chat)).toMatchObject({ turns: [{ state: 'complete' }] })
    await sound(stranger, all)
  })

  test('[W10] comes back to a host that was killed, in the middle of a turn: that has ended, and the next goes on', async () => {
    const { bench, all } = await stage(patientAgent())
    await bench.choose()
    const turn = await bench.prompt('Count')
    const { session, chat, link } = bench
    await link.until(() => link.envelopes.some(({ action }) => action.type === 'chat/delta'))
    await bench.settled()
    link.transport.close()
    await all.restart('crash')
    await bench.comeBack(all.wire()[1], [rootUri, session, chat])
    await bench.link.until(() => bench.link.chat(chat).activeTurn === undefined)
    expect(bench.link.chat(chat).turns).toMatchObject([{ id: turn, duration: expect.any(Number) }])
    await bench.settled()
    await sound(bench, all)
  })
})

interface Stage {
  readonly all: Room
  readonly bench: Workbench
  /** Somebody else, of our own generation, who looks at the root. */
  readonly watcher: Client
}

async function stage(agent: Agent, options: RoomOptions = {}): Promise<Stage> {
  const all = await room({ ...options, agents: [agent] })
  const watcher = await all.join('watcher', { subscribe: [rootUri] })
  const bench = new Workbench(all.wire()[1])
  await bench.open()
  watcher.envelopes.length = 0
  return { all, bench, watcher }
}

async function ended({ link, chat }: Workbench, turn: string): Promise<void> {
  await link.until(() => link.chat(chat).turns.some(({ id }) => id === turn))
}

/** Nothing came that it could not live with, nothing is open, and what it has is what the host has. */
async function sound(bench: Workbench, all?: Room, refusable: readonly string[] = []): Promise<void> {
  await bench.settled()
  const refused = bench.link.envelopes.filter(
    ({ rejectionReason, action }) => rejectionReason !== undefined && !refusable.includes(action.type),
  )
  expect([bench.link.problems, refused, [...bench.link.open.keys()]]).toEqual([[], [], []])
  if (!all) return
  await quiet()
  const fresh = new Workbench(all.wire()[1], { clientId: 'fresh' })
  await fresh.initialize()
  for (const channel of bench.link.followed.keys()) await fresh.ask('subscribe', { channel })
  sameAsHost(bench.link, fresh.link)
}

/** The id of the nth session it asked for. */
function createId({ link }: Workbench, nth: number): number | undefined {
  return link.asked.filter(({ method }) => method === 'createSession')[nth]?.id
}

const typeOf = ({ method, params }: Message) =>
  method === 'action' ? (params?.['action'] as { type: string }).type : undefined

const told = (client: Client, name: string) =>
  client.notes.filter(({ method }) => method === name).map(({ params }) => params)
