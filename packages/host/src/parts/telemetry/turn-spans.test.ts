import { expect, test } from 'vitest'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { spansOf, testTelemetry } from '../../../test/telemetry/records.ts'
import { call, confirmed, ready, result, running, toolCallStarted } from '../../../test/tool-call-actions.ts'
import {
  accepted,
  cancelled,
  chat,
  chatOf,
  message,
  says,
  turn,
  twoClientSession,
} from '../../../test/two-client-session.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { AgentAction } from '../../ports/agent.ts'
import { telemetryOf } from './key.ts'

const done = { type: 'chat/toolCallComplete', ...call, ...result(true) } as AgentAction
const secret = 'the secret plan'

async function tracedSession() {
  const all = await twoClientSession(new ScriptedAgent(), { machine: { telemetry: testTelemetry().port } })
  await all.ben.ask('subscribe', { channel: 'ahp-otlp://traces' })
  /** The spans after the end of a turn. */
  const spans = async (count: number) => {
    all.world.advance(200)
    await all.ben.until(() => spansOf(all.ben).length >= count)
    return spansOf(all.ben)
  }
  return { ...all, spans }
}

test('[T33] a turn is a span, with its model calls and its tool calls below it', async () => {
  const all = await tracedSession()
  const run = await turn(all, 't1')
  all.world.advance(1000)
  await says(all, run, toolCallStarted(), running)
  all.world.advance(2000)
  await says(all, run, done)
  all.world.advance(500)
  await says(all, run, { type: 'chat/usage', usage: { inputTokens: 7, outputTokens: 3 } })
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  const spans = await all.spans(4)
  const ms = spans.map(({ startTimeUnixNano: from, endTimeUnixNano: to }) =>
    Number((BigInt(to) - BigInt(from)) / 1_000_000n),
  )
  expect(spans.map(({ name }, at) => [name, ms[at]])).toEqual([
    ['chat', 1000],
    ['execute_tool x', 2000],
    ['chat', 500],
    ['invoke_agent mock', 3500],
  ])
  const whole = spans[3]
  for (const span of spans.slice(0, 3)) {
    expect(span).toMatchObject({ traceId: whole?.traceId, parentSpanId: whole?.spanId })
    expect(span.values).toMatchObject({
      'ahp.chat.id': chat,
      'ahp.turn.id': 't1',
      'gen_ai.agent.name': 'mock',
    })
  }
  expect(whole?.parentSpanId).toBeUndefined()
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4)
  expect(spans[1]?.values).toMatchObject({
    'ahp.tool_call.id': 'c1',
    'gen_ai.tool.call.id': 'c1',
    'gen_ai.tool.name': 'x',
  })
  expect(whole?.values).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.usage.input_tokens': '7',
    'gen_ai.usage.output_tokens': '3',
  })
})

test('[T33] no span has a text that a person, an agent or a tool has written', async () => {
  const all = await tracedSession()
  await accepted(all.ann, chat, {
    type: 'chat/turnStarted',
    turnId: 't1',
    startedAt: '2026-01-01T00:00:00Z',
    message: message(secret),
  })
  const run = await all.agent.given(0)
  await says(all, run, toolCallStarted(), ready({ invocationMessage: secret, toolInput: secret }))
  await accepted(all.ann, chat, confirmed)
  await says(all, run, { ...done, result: { success: false, pastTenseMessage: secret } } as AgentAction)
  run.fail(new TurnFailed('quota', secret))
  await until(() => chatOf(all).turns.length === 1)
  const spans = await all.spans(4)
  expect(JSON.stringify(spans)).not.toContain(secret)
  expect(spans.map(({ name, status, values }) => [name, status.code, values['error.type']])).toEqual([
    ['chat', undefined, undefined],
    ['execute_tool x', 2, 'failed'],
    ['chat', undefined, undefined],
    ['invoke_agent mock', 2, 'quota'],
  ])
})

test('[T33.1] a worker is in the trace of the call that has started it', async () => {
  const all = await tracedSession()
  const run = await turn(all, 't1', toolCallStarted(), running)
  const { chat: child } = run.chat.spawn({ ...call, title: 'W', text: 'work' })
  const working = await all.agent.given(1)
  const traceparent = telemetryOf(all.core())?.spans.traceparent(child, working.chat.turnId)
  working.end()
  await until(() => chatOf(all, child).turns.length === 1)
  await says(all, run, done)
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  const spans = await all.spans(6)
  const tool = spans.find(({ name }) => name === 'execute_tool x')
  const work = spans.find(
    ({ values }) => values['ahp.chat.id'] === child && values['gen_ai.operation.name'] === 'invoke_agent',
  )
  expect(work).toMatchObject({ traceId: tool?.traceId, parentSpanId: tool?.spanId })
  expect(traceparent).toBe(`00-${work?.traceId}-${work?.spanId}-01`)
})

test('[T33.1] a turn has the same ids after a restart', async () => {
  const all = await tracedSession()
  const ids = (turnId: string) => telemetryOf(all.core())?.spans.traceparent(chat, turnId)
  await turn(all, 't1')
  const before = ids('t1')
  await all.restart()
  expect(ids('t1')).toBe(before)
  expect(ids('t2')).not.toBe(before)
})

test('[T33.2] a cancelled turn ends its calls, and is no error', async () => {
  const all = await tracedSession()
  await turn(all, 't1', toolCallStarted(), running)
  await accepted(all.ann, chat, cancelled('t1'))
  const spans = await all.spans(3)
  expect(spans.slice(1).map(({ name, status, values }) => [name, status.code, values['error.type']])).toEqual(
    [
      ['execute_tool x', undefined, 'cancelled'],
      ['invoke_agent mock', undefined, 'cancelled'],
    ],
  )
})
