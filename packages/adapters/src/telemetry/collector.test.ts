import { expect, test } from 'vitest'
import { recordsIn, spanOf, testTelemetry } from '../../../host/test/telemetry/records.ts'
import { testHost } from '../../../host/test/test-host.ts'
import { otlpProblems } from '../../../../conformance/src/kit/otlp.ts'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { ChatState } from '@atrium/protocol/chat/state'
import { manualTimers, scriptedAgent } from '../../test/acp.ts'
import { otlpSink } from '../../test/telemetry/otlp-sink.ts'
import { until } from '../../test/shells.ts'
import { nodeFiles } from '../files/files.ts'
import { redactor } from '../process/redact.ts'
import { HttpCollector } from './collector.ts'
import { collectorSettings, resourceAttributes } from './settings.ts'

function collectorOf(env: { readonly [name: string]: string }) {
  const { later, pass, timers } = manualTimers()
  const reports: unknown[] = []
  const settings = collectorSettings(env)
  if (!settings) throw new Error('no collector')
  const report = (event: string, detail?: unknown) =>
    void reports.push(detail === undefined ? event : `${event}: ${detail as string}`)
  return { collector: new HttpCollector(settings, { later, report }), pass, timers, reports }
}

test('[T35] each signal goes to its address, with the headers of the environment', async () => {
  const sink = await otlpSink()
  const { collector, reports } = collectorOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${sink.url}/`,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${sink.url}/elsewhere`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20k3y,x-team=a',
    OTEL_METRICS_EXPORTER: 'none',
  })
  expect(['logs', 'traces', 'metrics'].map((each) => collector.takes(each as 'logs'))).toEqual([
    true,
    true,
    false,
  ])
  await collector.send('logs', { a: 1 })
  await collector.send('traces', { b: 2 })
  await collector.send('metrics', { c: 3 })
  expect(sink.got.map(({ path, payload }) => [path, payload])).toEqual([
    ['/elsewhere', { a: 1 }],
    ['/v1/traces', { b: 2 }],
  ])
  expect(sink.got[0]?.headers).toMatchObject({
    authorization: 'Bearer k3y',
    'x-team': 'a',
    'content-type': 'application/json',
  })
  expect(reports).toEqual([])
})

test('[T35.1] a collector that is busy is tried again, and one that refuses is not; the log says each change once', async () => {
  const busy = { status: 503, headers: { 'retry-after': '7' } }
  const sink = await otlpSink(
    busy,
    { status: 200 },
    { status: 400 },
    { status: 302, headers: { location: '/x' } },
    { status: 400 },
  )
  const { collector, pass, timers, reports } = collectorOf({ OTEL_EXPORTER_OTLP_ENDPOINT: sink.url })
  const sent = collector.send('traces', { n: 1 })
  await until(() => timers.size === 1)
  expect([...timers].map(({ ms }) => ms)).toEqual([7000])
  pass(7000)
  await sent
  expect(reports).toEqual([])
  for (const n of [2, 3, 4, 5]) await collector.send('traces', { n })
  expect(sink.got.map(({ path, payload }) => [path, payload])).toEqual(
    [1, 1, 2, 3, 4, 5].map((n) => ['/v1/traces', { n }]),
  )
  const trouble = (reason: string) =>
    `telemetry not sent: the collector of OTEL_EXPORTER_OTLP_ENDPOINT: ${reason}`
  expect(reports).toEqual([
    trouble('it answers 400'),
    trouble('it answers 302'),
    trouble('it answers 400'),
    'collector takes telemetry again',
  ])
})

test('[T35] a collector that does not answer keeps a bounded queue; [T35.3] the end of the host waits for no pause', async () => {
  const sink = await otlpSink()
  sink.close()
  const { collector, timers, reports } = collectorOf({ OTEL_EXPORTER_OTLP_ENDPOINT: sink.url })
  for (let n = 0; n < 20; n++) void collector.send('logs', { n })
  expect(collector.slow).toBe(true)
  await until(() => timers.size === 1)
  await collector.close()
  expect([collector.slow, timers.size]).toEqual([false, 0])
  expect(reports).toEqual([
    'telemetry not sent: the collector of OTEL_EXPORTER_OTLP_ENDPOINT: it cannot be reached',
  ])
  await collector.send('logs', {})
})

test('[T35.2] what the host does not do is refused with what to set', () => {
  const settings = (env: object) => () =>
    collectorSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317', ...env })
  expect(settings({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toThrow(
    'Set OTEL_EXPORTER_OTLP_PROTOCOL=http/json',
  )
  expect(settings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).toThrow('is no http or https address')
  expect(settings({ OTEL_SDK_DISABLED: 'True' })()).toBeUndefined()
  expect(collectorSettings({})).toBeUndefined()
  expect(settings({ OTEL_EXPORTER_OTLP_TIMEOUT: '-1' })()?.timeoutMs).toBe(10_000)
})

test('[T35] the attributes of the sender come from the environment', () => {
  const env = { OTEL_SERVICE_NAME: 'mine', OTEL_RESOURCE_ATTRIBUTES: 'team=a%20b,broken,=x,bad=%zz' }
  expect(resourceAttributes(env)).toEqual({ 'service.name': 'mine', team: 'a b', bad: '%zz' })
  expect(resourceAttributes({})).toEqual({})
})

test('[T36] a collector gets the trace of a turn, with the span of the ACP agent below it', async () => {
  const sink = await otlpSink()
  const environment = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, OTEL_SERVICE_NAME: 'the host' }
  const { agent } = scriptedAgent({ context: { environment } })
  const { collector } = collectorOf({ OTEL_EXPORTER_OTLP_ENDPOINT: sink.url })
  const all = await testHost({
    agents: [agent],
    machine: { files: nodeFiles(), telemetry: testTelemetry(collector).port },
  })
  const ann = await all.join('ann')
  const session = 'ahp-session:/traced'
  const chat = defaultChatUri(session)
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: chat })
  const action = { type: 'chat/turnStarted', turnId: 't1', startedAt: new Date(0).toISOString() }
  ann.dispatch(chat, { ...action, message: { text: 'trace its work', origin: { kind: 'user' } } })
  await ann.until(() => (ann.state(chat) as unknown as ChatState).turns.length === 1)
  await all.host().close()
  const traces = sink.got.filter(({ path }) => path === '/v1/traces')
  for (const { payload } of traces) expect(otlpProblems('traces', payload)).toEqual([])
  const spans = traces.flatMap(({ payload }) => recordsIn(payload)).map(spanOf)
  const turn = spans.find(({ name }) => name === 'invoke_agent mock')
  expect(turn?.values).toMatchObject({ 'ahp.session.id': session, 'ahp.turn.id': 't1' })
  const work = spans.find(({ name }) => name === 'its work')
  expect(work).toMatchObject({ traceId: turn?.traceId, parentSpanId: turn?.spanId })
  const senders = traces.map(
    ({ payload }) => JSON.stringify(payload).match(/"service\.name","value":\{"stringValue":"([^"]+)"/)?.[1],
  )
  expect(new Set(senders)).toEqual(new Set(['scripted', 'atrium']))
  // The metrics go out at the end of the host, too.
  const metrics = sink.got.find(({ path }) => path === '/v1/metrics')
  expect(otlpProblems('metrics', metrics?.payload)).toEqual([])
})

test('[T36.1] the headers for a collector are credentials', () => {
  const redact = redactor({
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=k3y-k3y,authorization=Bearer%20s3cret-s3cret',
  })
  expect(redact('sent k3y-k3y and Bearer s3cret-s3cret')).toBe('sent … and …')
  expect(redact('only s3cret-s3cret')).toBe('only …')
})
