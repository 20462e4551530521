import type { JsonObject } from '@atrium/protocol/json'
import { automationsUri, rootUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { automated, hourMs, minuteMs, one } from '../../../test/automations/automated.ts'
import type { Automated } from '../../../test/automations/automated.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { asks } from '../../../test/tool-call-actions.ts'

const on = (type: string, event: string, config: JsonObject = {}) => ({
  triggers: [
    { kind: 'event', id: 'e', type, title: '', events: [{ id: event, title: '' }], config } as const,
  ],
})

/** A turn in a session of Ann's. Returns the turn of the agent. */
async function turn({ ann, agent }: Automated, id = 'x', provider = 'mock') {
  const session = `${provider}:/${id}`
  await ann.ask('createSession', { channel: session, workingDirectories: ['file:///work/shop'] })
  await ann.ask('subscribe', { channel: session })
  const chat = String(ann.state(session)['defaultChat'])
  await untilIdle()
  const message = { text: `go ${id}`, origin: { kind: 'user' } }
  ann.dispatch(chat, { type: 'chat/turnStarted', turnId: 't', startedAt: '2026-01-01T00:00:00Z', message })
  await untilIdle()
  const run = agent.runs.at(-1)
  if (!run) throw new Error('no turn')
  return run
}

describe('[H45] triggers by events', () => {
  test('[H45.1] are what the host offers; others are refused, and their texts are those of the host', async () => {
    const host = await automated()
    const { items } = await host.ann.ask('listAutomationTriggerDefinitions', { channel: rootUri })
    expect(items.map(({ type }) => type)).toEqual([
      'turnEnded',
      'needsSomebody',
      'agentSilent',
      'sessionIdle',
    ])
    expect(await host.create(on('moonRise', 'full'))).toMatch(
      /no event type "moonRise"; there are: turnEnded/,
    )
    expect(await host.create(on('turnEnded', 'never'))).toMatch(/has no event "never"; it has: complete/)
    expect(
      await host.create({ triggers: [{ ...on('turnEnded', 'error').triggers[0], events: [] }] } as never),
    ).toMatch(/needs an event/)
    expect(await host.create(on('sessionIdle', 'idle', { minutes: 0 }))).toMatch(/minutes/)
    expect(await host.create(on('turnEnded', 'error'))).toBeUndefined()
    expect(host.entry().definition.triggers[0]).toMatchObject({
      title: 'A turn ended',
      events: [{ title: 'Failed' }],
    })
  })

  test('[H45.2] the end of a turn starts a run, whose message has the event; its own session never does', async () => {
    const host = await automated()
    await host.create(on('turnEnded', 'complete'))
    const run = await turn(host)
    run.end()
    await untilIdle()
    expect(host.entry().runs[0]?.origin).toMatchObject({
      kind: 'trigger',
      triggerId: 'e',
      event: { type: 'turnEnded', event: 'complete', session: 'mock:/x', title: 'go x' },
    })
    const { chat } = await host.agent.given(1)
    expect(JSON.stringify(chat.state.activeTurn?.message.attachments)).toContain('mock:/x')
    await host.end()
    expect(host.entry().runs).toHaveLength(1)
  })

  test.each([
    [{ folder: 'file:///work' }, 1],
    [{ folder: 'file:///wor' }, 0],
    [{ provider: 'other' }, 0],
    [{ provider: 'mock', title: 'go' }, 1],
    [{ title: 'stay' }, 0],
  ])('[H45.3] the filter %j decides', async (config, count) => {
    const host = await automated()
    await host.create(on('turnEnded', 'complete', config))
    ;(await turn(host)).end()
    await untilIdle()
    expect(host.entry().runs).toHaveLength(count)
  })

  test.each([
    ['agentSilent', 'silent', false],
    ['sessionIdle', 'idle', true],
  ])('[H45.4] %s: a state that lasts starts one run', async (type, event, ends) => {
    const host = await automated()
    const filter = { minutes: 5, title: 'go' }
    await host.create(on(type, event, filter))
    const run = await turn(host)
    if (ends) run.end()
    await untilIdle()
    await host.pass(4 * minuteMs)
    expect(host.entry().runs).toEqual([])
    await host.pass(2 * minuteMs)
    expect(host.entry().runs).toMatchObject([{ origin: { event: { type, event } } }])
    await host.pass(2 * hourMs)
    expect(host.entry().runs).toHaveLength(1)
  })

  test('[H45.4] needsSomebody: a session that waits for an answer for so long starts one run, and one after an answer none', async () => {
    const host = await automated()
    await host.create(on('needsSomebody', 'waiting', { minutes: 5, title: 'go' }))
    const asked = async (id: string) => {
      const run = await turn(host, id)
      run.say(asks)
      await untilIdle()
    }
    await asked('answered')
    await host.pass(4 * minuteMs)
    const chat = String(host.ann.state('mock:/answered')['defaultChat'])
    const { rejectionReason } = await host.ann.echo(
      host.ann.dispatch(chat, { type: 'chat/turnCancelled', turnId: 't', duration: 0 }),
    )
    expect(rejectionReason).toBeUndefined()
    await host.pass(3 * minuteMs)
    expect(host.entry().runs).toEqual([])
    await asked('waiting')
    await host.pass(6 * minuteMs)
    const event = { type: 'needsSomebody', event: 'waiting', session: 'mock:/waiting' }
    expect(host.entry().runs).toMatchObject([{ origin: { event } }])
    await host.pass(2 * hourMs)
    expect(host.entry().runs).toHaveLength(1)
  })

  const ended = async (count: number) => {
    const host = await automated()
    await host.create({
      ...on('turnEnded', 'complete', { title: 'go' }),
      _meta: { 'x-atrium': { overlap: 'parallel' } },
    })
    for (let n = 0; n < count; n++) {
      ;(await turn(host, `x${n}`)).end()
      await untilIdle()
      await host.end()
    }
    const params = { channel: automationsUri, automation: one }
    const { items } = (await host.ann.peer.request('x-atrium/missedRuns', params)) as { items: object[] }
    return items
  }

  test('[H45.5] [S-57 automationEvents] at 20 events in an hour all start runs; [S-57 automationEvents] past 20 an event is missed', async () => {
    expect(await ended(20)).toEqual([])
    expect(await ended(21)).toMatchObject([{ because: 'too many events', count: 1 }])
  })
})
