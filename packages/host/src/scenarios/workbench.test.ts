import type { Envelope } from '@atrium/protocol/channel'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { failingAgent, lateAgent, readyAgent } from '../../test/agents.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import type { Client } from '../../test/test-host.ts'
import { ended, sound, stage } from '../../test/workbench-host.ts'
import type { Message } from '../../test/raw-client.ts'
import type { Workbench } from '../../test/workbench.ts'
import { TurnFailed } from '../ports/agent.ts'

const noKey = new TurnFailed('auth', 'There is no key for this agent.')
/** Fields that version 1.0 has added. */
const later = { channel: 'ahp-chat:/x', destination: { kind: 'session', session: 'ahp-session:/x' } }

describe("VS Code's workbench", () => {
  test('[W2] opens: its version, agents with models, config keys of others, and unknown fields', async () => {
    const { bench } = await stage(readyAgent())
    await bench.settled()
    expect(bench.link.received[0]).toMatchObject({ id: 1, result: { protocolVersion: '0.9.0' } })
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
    await expect(bench.ask('moveChat', later)).rejects.toMatchObject({ code: -32601 })
    expect(await bench.ping()).toBe(null)
    expect(bench.link.problems).toEqual([])
  })

  test('[W3] chooses an agent: a session that is not listed, created with a chat', async () => {
    const { bench, watcher, all } = await stage(lateAgent())
    await bench.choose()
    const settings = bench.link.received.filter(
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
    await sound(bench, all)
  })

  test('[W4] prompts: the session it left is never mentioned, the new one is announced with its first turn', async () => {
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
    for (const notes of [link.notes('root/sessionAdded'), notesOf(watcher, 'root/sessionAdded')])
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
    expect(JSON.stringify(link.received.filter(({ method }) => method?.startsWith('root/')))).not.toContain(
      abandoned,
    )
    expect(await bench.list()).toMatchObject({
      items: [{ resource: session, title: expect.stringMatching(/./) }],
    })
    await sound(bench, all)
  })

  test('[W5] prompts while its session is being created: the turn is echoed at once, waits, and is not lost', async () => {
    const agent = lateAgent()
    const { bench, all } = await stage(agent)
    await bench.choose()
    const abandoned = bench.session
    const turn = await bench.prompt('Say hello')
    await bench.settled()
    await untilIdle()
    expect(agent.abandoned).toEqual([abandoned])
    expect(agent.ran).toEqual([])
    expect(bench.link.session(bench.session).lifecycle).toBe('creating')
    expect(bench.link.chat(bench.chat).activeTurn).toMatchObject({ id: turn, responseParts: [] })
    agent.finish(bench.session)
    await ended(bench, turn)
    expect(agent.ran).toEqual([bench.chat])
    const types = bench.link.envelopes.map(({ action }) => action.type)
    expect(types.indexOf('session/ready')).toBeGreaterThan(types.indexOf('chat/turnStarted'))
    expect(types.indexOf('chat/responsePart')).toBeGreaterThan(types.indexOf('session/ready'))
    await sound(bench, all)
  })

  test('[W6] prompts for a session whose creation fails: session and turn end in one step', async () => {
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
    for (await untilIdle(); !failed(); await untilIdle()) flushes.shift()?.()
    // The turn has failed in the same flush as its session: no second flush was needed.
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

  test('[W6] the same when the creation fails before the prompt', async () => {
    const { bench, all } = await stage(failingAgent(noKey))
    await bench.choose()
    const turn = await bench.prompt('Say hello')
    await bench.link.until(() => bench.link.session(bench.session).lifecycle === 'failed')
    await bench.settled()
    const { turns, activeTurn } = bench.link.chat(bench.chat)
    expect(activeTurn).toBeUndefined()
    // A failed session may refuse the turn, or accept the turn and end it. It never leaves the turn open.
    expect(turns.every(({ id, state }) => id === turn && state === 'error')).toBe(true)
    await sound(bench, all, ['chat/turnStarted'])
  })
})

/** The id of the request by which the workbench created a session. `nth` counts these requests from 0. */
function createId({ link }: Workbench, nth: number): number | undefined {
  return link.asked.filter(({ method }) => method === 'createSession')[nth]?.id
}

const typeOf = ({ method, params }: Message) =>
  method === 'action' ? (params as unknown as Envelope).action.type : undefined

const notesOf = (client: Client, name: string) =>
  client.notes.filter(({ method }) => method === name).map(({ params }) => params)
