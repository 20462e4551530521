import { catalogOf } from '../../catalog/catalog.ts'
import type { ChatState } from '@atrium/protocol/chat/state'
import { withReadiness } from '@atrium/protocol/root/readiness'
import type { Readiness } from '@atrium/protocol/root/readiness'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { RootState } from '@atrium/protocol/root/state'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { silentAgent, testHost } from '../../../test/test-host.ts'
import type { Agent } from '../../ports/agent.ts'

const model = { id: 'large', provider: 'mock', name: 'Large' }
const property = { type: 'string', title: 'Pace', enum: ['slow', 'fast'] } as const

/** An agent that knows its models and settings only after a probe. */
function shy(): Agent & { asked: number } {
  return {
    ...silentAgent,
    asked: 0,
    get info(): AgentInfo {
      return { ...silentAgent.info, models: this.asked > 0 ? [model] : [] }
    },
    get settings() {
      return {
        schema: { type: 'object', properties: this.asked > 0 ? { 'mock.pace': property } : {} },
      } as const
    },
    async probe() {
      this.asked++
    },
  }
}

test('[H14.1] [H14] an agent is probed when its settings are requested, and the result is published', async () => {
  const agent = shy()
  const all = await testHost({ agents: [agent] })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  const models = () => (ann.state(rootUri) as RootState).agents[0]?.models
  expect([agent.asked, models()]).toEqual([0, []])
  const { schema } = await ann.ask('resolveSessionConfig', { channel: rootUri, provider: 'mock', config: {} })
  expect(schema.properties).toEqual({ 'mock.pace': property })
  expect(models()).toEqual([model])
})

test('[H14.1] [H14] an agent is probed before a session is created with it', async () => {
  const all = await testHost({ agents: [shy()] })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  const params = { channel: 'ahp-session:/a', provider: 'mock', config: { 'mock.pace': 'fast' } }
  await ann.ask('createSession', params)
  const { snapshot } = await ann.ask('subscribe', { channel: 'ahp-session:/a' })
  expect(snapshot?.state).toMatchObject({ config: { values: { 'mock.pace': 'fast' } } })
  const wrong = { ...params, channel: 'ahp-session:/b', config: { 'mock.pace': 'furious' } }
  await expect(ann.ask('createSession', wrong)).rejects.toThrow('must be one of "slow", "fast"')
})

test('[H14] changes of the agents are published; without a change nothing is', async () => {
  const all = await testHost()
  const ann = await all.join('ann', { subscribe: [rootUri] })
  const providers = () => (ann.state(rootUri) as RootState).agents.map(({ provider }) => provider)
  const other: Agent = { ...silentAgent, info: { ...silentAgent.info, provider: 'other' } }
  const before = all.core().log.last
  all.host().offer([silentAgent])
  expect(all.core().log.last).toBe(before)
  all.host().offer([silentAgent, other])
  await ann.until(() => providers().length === 2)
  await ann.ask('createSession', { channel: 'ahp-session:/o', provider: 'other' })
  all.host().offer([silentAgent])
  await ann.until(() => providers().length === 1)
  await expect(ann.ask('createSession', { channel: 'ahp-session:/p', provider: 'other' })).rejects.toThrow(
    'other',
  )
})

test('[H14.2] a session whose agent is gone stays, and its next turn says so', async () => {
  const all = await testHost()
  const ann = await all.join('ann')
  const [channel, chat] = ['ahp-session:/o', defaultChatUri('ahp-session:/o')]
  await ann.ask('createSession', { channel })
  await ann.ask('subscribe', { channel: chat })
  all.host().offer([{ ...silentAgent, info: { ...silentAgent.info, provider: 'other' } }])
  const message = { text: 'go', origin: { kind: 'user' } }
  ann.dispatch(chat, { type: 'chat/turnStarted', turnId: 't', startedAt: '2026-01-01T00:00:00Z', message })
  const turns = () => (ann.state(chat) as unknown as ChatState).turns
  await ann.until(() => turns().length === 1)
  expect(turns()[0]?.responseParts).toMatchObject([
    { kind: 'error', error: { message: 'there is no agent "mock" any more' } },
  ])
  expect((await ann.ask('listSessions', {})).items).toHaveLength(1)
})

/** An agent of this provider and readiness. */
function ready(provider: string, readiness: Readiness): Agent {
  return { ...silentAgent, info: withReadiness({ ...silentAgent.info, provider }, readiness) }
}

test.each<[string, readonly Agent[], string]>([
  [
    'the first that is ready',
    [
      ready('guide', { state: 'ready', fallback: true }),
      ready('a', { state: 'not-tried' }),
      ready('b', { state: 'ready' }),
      ready('c', { state: 'ready' }),
    ],
    'b',
  ],
  [
    'the guide if none is ready',
    [
      ready('a', { state: 'broken' }),
      ready('guide', { state: 'ready', fallback: true }),
      ready('b', { state: 'needs-sign-in' }),
    ],
    'guide',
  ],
  [
    'never one that acts without asking',
    [
      ready('a', { state: 'ready', actsWithoutAsking: true }),
      ready('guide', { state: 'ready', fallback: true }),
    ],
    'guide',
  ],
  ['the first if no agent tells its state', [silentAgent], 'mock'],
])('[H14.5] the default agent is %s', async (_, agents, expected) => {
  const all = await testHost({ agents })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: 'ahp-session:/one' })
  expect(catalogOf(all.core()).get('ahp-session:/one')).toMatchObject({ provider: expected })
})

test('[H14.5] atrium.defaultProvider names an agent that exists, and wins', async () => {
  const all = await testHost({ agents: [ready('a', { state: 'ready' }), ready('b', { state: 'broken' })] })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  const set = (value: unknown) =>
    ann.echo(
      ann.dispatch(rootUri, { type: 'root/configChanged', config: { 'atrium.defaultProvider': value } }),
    )
  expect(await set('c')).toMatchObject({ rejectionReason: 'there is no agent "c"; there are: a, b' })
  expect(await set('b')).not.toHaveProperty('rejectionReason')
  await ann.ask('createSession', { channel: 'ahp-session:/one' })
  expect(catalogOf(all.core()).get('ahp-session:/one')).toMatchObject({ provider: 'b' })
  expect(await set(null)).not.toHaveProperty('rejectionReason')
  await ann.ask('createSession', { channel: 'ahp-session:/two' })
  expect(catalogOf(all.core()).get('ahp-session:/two')).toMatchObject({ provider: 'a' })
})
