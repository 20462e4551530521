import { pair } from '@atrium/protocol/rpc/pair'
import { limits } from '@atrium/protocol/limits'
import { describe, expect, test } from 'vitest'
import { otlpProblems } from '../../../../../conformance/src/kit/otlp.ts'
import { pairedClient } from '../../../test/devices.ts'
import { exported, linesOf, recordsOf, testTelemetry } from '../../../test/telemetry/records.ts'
import { Client, testHost } from '../../../test/test-host.ts'

const warnings = 'ahp-otlp://logs/warn'
const traces = 'ahp-otlp://traces'
const metrics = 'ahp-otlp://metrics'

async function hostWithLog() {
  const telemetry = testTelemetry()
  const all = await testHost({ machine: { telemetry: telemetry.port } })
  return { ...all, ...telemetry }
}

describe('[T30] the channels of telemetry', () => {
  test('[T30] are offered, have no snapshot, and send only what is emitted afterwards', async () => {
    const { link, log, world } = await hostWithLog()
    const ann = link()
    const { telemetry } = await ann.initialize('ann')
    expect(telemetry).toEqual({ logs: 'ahp-otlp://logs/{level}', traces, metrics })
    log('error', 'before')
    expect(await ann.ask('subscribe', { channel: warnings })).toEqual({})
    log('warn', 'one')
    log('info', 'not severe enough')
    log('fatal', 'two')
    world.advance(200)
    await ann.until(() => ann.notes.length > 0)
    expect(linesOf(ann, warnings)).toEqual(['WARN one', 'FATAL two'])
  })

  test('[T30] are not offered by a host without a port of telemetry', async () => {
    const { link } = await testHost()
    const ann = link()
    expect(await ann.initialize('ann')).not.toHaveProperty('telemetry')
    await expect(ann.ask('subscribe', { channel: traces })).rejects.toMatchObject({ code: -32008 })
  })

  test('[T30.1] have each level in any case; every spelling is a channel of its own', async () => {
    const { join, log, world } = await hostWithLog()
    const ann = await join('ann')
    for (const channel of [warnings, 'ahp-otlp://logs/WARN']) await ann.ask('subscribe', { channel })
    log('error', 'x')
    world.advance(200)
    await ann.until(() => ann.notes.length === 2)
    expect(ann.notes.map(({ params }) => params['channel'])).toEqual([warnings, 'ahp-otlp://logs/WARN'])
  })

  test.each(['loud', '', 'warn/x'])('[T30.1] refuse the level %j and name the levels', async (level) => {
    const { join } = await hostWithLog()
    const ann = await join('ann')
    const refused = ann.ask('subscribe', { channel: `ahp-otlp://logs/${level}` })
    await expect(refused).rejects.toMatchObject({
      code: -32008,
      message: expect.stringContaining('trace, debug'),
    })
  })

  test('[T30.2] are followed from the handshake on, left by unsubscribe, and not called missing after a reconnect', async () => {
    const { join, link, log, world, listeners } = await hostWithLog()
    const ann = await join('ann', { subscribe: [warnings, 'ahp-otlp://logs/loud', 'ahp-root://'] })
    log('warn', 'one')
    world.advance(200)
    await ann.until(() => ann.notes.length === 1)
    ann.peer.close()
    const back = link()
    const { lastSeen } = ann
    const subscriptions = [warnings, 'ahp-root://', 'ahp-otlp://logs/loud']
    const result = await back.ask('reconnect', {
      clientId: 'ann',
      lastSeenServerSeq: lastSeen,
      subscriptions,
    })
    expect(result).toMatchObject({ type: 'replay', missing: ['ahp-otlp://logs/loud'] })
    log('warn', 'two')
    world.advance(200)
    await back.until(() => back.notes.length === 1)
    expect(linesOf(back, warnings)).toEqual(['WARN two'])
    back.peer.notify('unsubscribe', { channel: warnings })
    await back.ask('ping', {})
    await back.ask('listSessions', {})
    log('warn', 'three')
    world.advance(200)
    await back.ask('listSessions', {})
    expect(back.notes).toHaveLength(1)
    expect(listeners.size).toBe(1)
  })

  test('[T30.2] count as subscriptions', async () => {
    const { port } = testTelemetry()
    const { join } = await testHost({ machine: { telemetry: port }, limits: { subscriptions: 2 } })
    const ann = await join('ann', { subscribe: [warnings] })
    await ann.ask('subscribe', { channel: traces })
    await ann.ask('subscribe', { channel: traces })
    await expect(ann.ask('subscribe', { channel: metrics })).rejects.toMatchObject({ code: -32009 })
  })

  test('[T30.3] need the role own, and a version that has their notifications', async () => {
    const all = await hostWithLog()
    const watcher = await pairedClient(all, 'watch')
    await expect(watcher.ask('subscribe', { channel: traces })).rejects.toMatchObject({
      code: -32009,
      message: expect.stringContaining('needs the role own'),
    })
    const old = all.link()
    const params = { protocolVersions: ['0.1.0'], clientId: 'old', initialSubscriptions: [traces] }
    expect(await old.peer.request('initialize', params)).not.toHaveProperty('telemetry')
    await expect(old.peer.request<string>('subscribe', { resource: traces })).rejects.toMatchObject({
      code: -32008,
    })
  })
})

describe('[T31] a slow reader', () => {
  /** A client whose frames arrive only when the test lets them through. */
  async function slowClient(all: Awaited<ReturnType<typeof hostWithLog>>) {
    let held: (() => void)[] | undefined
    const [near, far] = pair((task) => (held ? void held.push(task) : queueMicrotask(task)))
    all.host().connect(near, 'owner')
    const client = new Client(far)
    await client.initialize('slow', [warnings, traces])
    return {
      client,
      hold: () => void (held = []),
      release() {
        const tasks = held ?? []
        held = undefined
        for (const task of tasks) task()
      },
    }
  }

  test('[T31] misses batches, holds up nobody, and is told how many records it has missed', async () => {
    const all = await hostWithLog()
    const { client, hold, release } = await slowClient(all)
    const fast = await all.join('fast', { subscribe: [warnings] })
    hold()
    const long = 'x'.repeat(limits.telemetryText)
    const count = 2 * Math.ceil(limits.slowBytes / limits.telemetryText)
    for (let at = 0; at < count; at++) {
      all.log('warn', `${at} ${long}`)
      all.world.advance(200)
      await fast.until(() => fast.notes.length === at + 1)
    }
    release()
    await client.until(() => client.notes.some(({ params }) => params['_meta'] !== undefined))
    const received = exported(client, warnings)
    const lost = received.flatMap(
      ({ meta }) => (meta as { 'x-atrium': { lost: number } } | undefined)?.['x-atrium'].lost ?? [],
    )
    expect(lost).toEqual([count - received.length + 1])
    expect(linesOf(client, warnings).at(-1)).toBe(
      `WARN ${lost[0]} lines are missing here: this reader was too slow`,
    )
    all.log('warn', 'again')
    all.world.advance(200)
    await client.until(() => linesOf(client, warnings).at(-1) === 'WARN again')
    expect(exported(client, warnings).at(-1)?.meta).toBeUndefined()
  })

  test('[S-57 telemetryRecords] at 256 records a batch does not wait; [S-57 telemetryRecords] past 256 the next one begins', async () => {
    const { join, log, world } = await hostWithLog()
    const ann = await join('ann', { subscribe: [warnings] })
    for (let at = 0; at < limits.telemetryRecords; at++) log('warn', `${at}`)
    await ann.until(() => ann.notes.length === 1)
    expect(recordsOf(ann, warnings)).toHaveLength(limits.telemetryRecords)
    log('warn', 'one more')
    await ann.ask('listSessions', {})
    expect(ann.notes).toHaveLength(1)
    world.advance(200)
    await ann.until(() => ann.notes.length === 2)
  })

  test('[T31.1] [S-57 telemetryText] at 4,096 characters a line is whole; [S-57 telemetryText] past 4,096 it is cut', async () => {
    const { join, log, world } = await hostWithLog()
    const ann = await join('ann', { subscribe: [warnings] })
    log('warn', 'x'.repeat(limits.telemetryText))
    log('warn', 'x'.repeat(limits.telemetryText + 1))
    world.advance(200)
    await ann.until(() => ann.notes.length === 1)
    const [whole = '', cut = ''] = linesOf(ann, warnings)
    expect(whole).toBe(`WARN ${'x'.repeat(limits.telemetryText)}`)
    expect(cut).toBe(`${whole}…`)
  })
})

test('[T34] metrics are those of /metrics, every 10 s while somebody follows them', async () => {
  const all = await hostWithLog()
  const ann = await all.join('ann', { subscribe: [metrics] })
  await ann.ask('createSession', { channel: 'ahp-session:/one' })
  all.world.advance(9999)
  await ann.ask('listSessions', {})
  expect(exported(ann, metrics)).toEqual([])
  all.world.advance(1)
  await ann.until(() => exported(ann, metrics).length === 1)
  const named = new Map(recordsOf(ann, metrics).map(({ name, ...metric }) => [name, metric]))
  const { actions, committedSeq, sessions, links } = all.host().metrics()
  const gauge = (value: number) => ({ gauge: { dataPoints: [{ asInt: String(value) }] } })
  expect(named.get('atrium.actions')).toMatchObject({ sum: { dataPoints: [{ asInt: String(actions) }] } })
  expect(named.get('atrium.committed_seq')).toMatchObject(gauge(committedSeq))
  expect(named.get('atrium.sessions')).toMatchObject(gauge(sessions))
  expect(named.get('atrium.links')).toMatchObject(gauge(links))
  expect([...named.keys()]).toEqual(expect.arrayContaining(['atrium.echo', 'atrium.backlog']))
  ann.peer.notify('unsubscribe', { channel: metrics })
  await ann.ask('listSessions', {})
  all.world.advance(20_000)
  await ann.ask('listSessions', {})
  expect(exported(ann, metrics)).toHaveLength(1)
})

test('[T30] the judge of OTLP finds what a collector would drop', () => {
  const span = {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    name: 'x',
    kind: 1,
    attributes: [],
    status: {},
  }
  const at = '1767225600000000000'
  const request = (more: object) => ({
    resourceSpans: [
      {
        resource: { attributes: [] },
        scopeSpans: [
          { scope: { name: 'x' }, spans: [{ ...span, startTimeUnixNano: at, endTimeUnixNano: at, ...more }] },
        ],
      },
    ],
  })
  expect(otlpProblems('traces', request({}))).toEqual([])
  for (const wrong of [
    { traceId: 'AA' },
    { startTimeUnixNano: 5 },
    { kind: 'INTERNAL' },
    { trace_state: '' },
  ])
    expect(otlpProblems('traces', request(wrong))).toHaveLength(1)
})
