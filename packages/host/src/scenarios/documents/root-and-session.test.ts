import type { SessionModelInfo } from '@atrium/protocol/root/state'
import { Activity } from '@atrium/protocol/status'
import { expect, test } from 'vitest'
import { lateAgent, readyAgent } from '../../../test/agents.ts'
import { root, session, title, untilIdle } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import {
  accepted,
  chat,
  chatOf,
  message,
  refused,
  started,
  truncated,
  turn,
  twoClientSession,
} from '../../../test/two-client-session.ts'
import type { AgentAction } from '../../ports/agent.ts'

/** A model with every member that 0.1 has. */
const model: SessionModelInfo = {
  id: 'deep-1',
  provider: 'mock',
  name: 'Deep One',
  maxContextWindow: 200_000,
  supportsVision: true,
  policyState: 'disabled',
  configSchema: {
    type: 'object',
    required: ['thinking'],
    properties: {
      thinking: {
        type: 'string',
        title: 'Thinking',
        description: 'How long the model thinks',
        default: 'low',
        enum: ['low', 'high'],
        enumLabels: ['Little', 'Much'],
        enumDescriptions: ['Quick', 'Thorough'],
        readOnly: false,
      },
    },
  },
  _meta: { pricing: { input: 1.5, output: 6 }, 'x-other': [null] },
}

test('[H14] state model, Root State: a model reaches every client with its schema, its policy and its prices', async () => {
  const { info, ...agent } = readyAgent()
  const all = await testHost({ agents: [{ ...agent, info: { ...info, models: [model] } }] })
  const ann = await all.join('ann', { subscribe: [root] })
  expect(ann.state(root)['agents']).toMatchObject([{ provider: 'mock', models: [model] }])
  expect(ann.state(root)).toMatchObject({ activeSessions: 0 })
})

test('[H7] session channel, Lifecycle: a subscription that follows createSession at once gets the session while it is created', async () => {
  const agent = lateAgent()
  const all = await testHost({ agents: [agent] })
  const ann = await all.join('ann')
  const created = ann.ask('createSession', { channel: session })
  const subscribed = ann.ask('subscribe', { channel: session })
  await Promise.all([created, subscribed])
  expect(ann.state(session)).toMatchObject({ lifecycle: 'creating', status: Activity.Idle })
  agent.finish(session)
  await ann.until(() => ann.state(session)['lifecycle'] === 'ready')
  expect(ann.envelopes.map(({ action }) => action.type)).toEqual(['session/ready'])
})

test('[P1] state model, Usage Info: a turn keeps the report of its agent, with everything in it', async () => {
  const all = await twoClientSession()
  const usage = {
    inputTokens: 12,
    outputTokens: 3,
    model: 'deep-1',
    cacheReadTokens: 7,
    _meta: { pricing: { total: 0.25 } },
  }
  const run = await turn(all, 't1', { type: 'chat/usage', usage } as AgentAction)
  run.end()
  await all.ben.until(() => all.ben.state(chat)['activeTurn'] === undefined)
  expect(all.ben.state(chat)).toMatchObject({ turns: [{ id: 't1', usage }] })
})

test('[H9] state model, Session Truncation: a truncation drops the active turn and all turns after the named one; the session is idle', async () => {
  const all = await twoClientSession()
  for (const [n, id] of ['t1', 't2'].entries()) {
    await accepted(all.ann, chat, started(id))
    ;(await all.agent.given(n)).end()
    await until(() => chatOf(all).turns.length === n + 1)
  }
  await accepted(all.ann, chat, started('t3'))
  const run = await all.agent.given(2)
  expect(await refused(all, chat, truncated('t3'))).toBe('this chat has no such turn')
  expect(await refused(all, chat, truncated('t9'))).toBe('this chat has no such turn')
  await accepted(all.ben, chat, truncated('t1'))
  expect(chatOf(all)).toMatchObject({ status: Activity.Idle, turns: [{ id: 't1' }] })
  expect(chatOf(all)).not.toHaveProperty('activeTurn')
  expect(run.signal.aborted).toBe(true)
  await untilIdle()
  expect((await all.ben.ask('listSessions', {})).items).toMatchObject([{ status: Activity.Idle }])
  // A client may start the edited message right after the truncation.
  const seqs = [truncated(), started('t4', 'better')].map((action) => all.ann.dispatch(chat, action))
  for (const seq of seqs) expect((await all.ann.echo(seq)).rejectionReason).toBeUndefined()
  expect(chatOf(all)).toMatchObject({ turns: [], activeTurn: { id: 't4', message: message('better') } })
})

test('[U1] [H7] actions, Client-Dispatched Actions: a rename reaches every client with its origin, and the session list', async () => {
  const all = await twoClientSession()
  const seq = all.ann.dispatch(session, title('Named'))
  await all.ben.until(() => all.ben.state(session)['title'] === 'Named')
  const told = all.ben.envelopes.find(({ action }) => action.type === 'session/titleChanged')
  expect(told).toMatchObject({ channel: session, origin: { clientId: 'ann', clientSeq: seq } })
  await untilIdle()
  expect((await all.ben.ask('listSessions', {})).items).toMatchObject([{ title: 'Named' }])
})
