import { memoryStore } from '@atrium/adapters/store/memory'
import { describe, expect, test } from 'vitest'
import { testHost } from '../../test/test-host.ts'

const root = 'ahp-root://'
const session = 'ahp-session:/one'
const title = (text: string) => ({ type: 'session/titleChanged', title: text })
const code = (asked: Promise<unknown>) =>
  asked.then(
    () => 0,
    (error: { code: number }) => error.code,
  )

describe('[H1] [H1.2] S-20: the first message', () => {
  const opened = async (length: number) => {
    const all = await testHost()
    const [near, far] = all.wire()
    const got: string[] = []
    far.receive((frame) => got.push(frame))
    const open = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersions: ['1.0.0'], clientId: 'a' },
    }
    const frame = JSON.stringify({ ...open, pad: '' })
    far.send(frame.replace('"pad":""', `"pad":"${'x'.repeat(length - frame.length)}"`))
    // Messages after the handshake request may be long, even when they follow at once.
    far.send(`{"jsonrpc":"2.0","method":"x","params":["${'x'.repeat(1_000_000)}"]}`)
    await all.join('other')
    return { got, closed: near.closed }
  }
  test('[S-57 openingLength] at 65,536: the link is opened', async () => {
    const { got, closed } = await opened(65_536)
    expect(got[0]).toContain('"result"')
    expect(closed.aborted).toBe(false)
  })
  test('[S-57 openingLength] past 65,536: it is closed', async () => {
    const { got, closed } = await opened(65_537)
    expect(got).toEqual([expect.stringContaining('longer than 65536')])
    expect(closed.aborted).toBe(true)
  })
})

describe('[H1] [H1.1] S-07: a link without a handshake', () => {
  test('[S-57 handshakeMs] at 10,000: it had until then', async () => {
    const { link, world } = await testHost()
    const ann = link()
    world.advance(9999)
    await ann.initialize('ann')
    world.advance(10_000)
    expect(await ann.ask('ping', {})).toBeNull()
  })
  test('[S-57 handshakeMs] past 10,000: it is closed, with pings or without', async () => {
    const { link, world } = await testHost()
    const ann = link()
    await ann.ask('ping', {})
    world.advance(10_000)
    await ann.until(() => ann.peer.closed.aborted)
  })
})

test('[H1] S-07: a link whose handshake waits for a slow disk is not closed as silent', async () => {
  const store = memoryStore()
  const answers: (() => void)[] = []
  let slow = false
  const get = async (key: string) => {
    if (slow) await new Promise<void>((resolve) => answers.push(resolve))
    return store.records.get(key)
  }
  const { join, link, world } = await testHost({ disk: { ...store, records: { ...store.records, get } } })
  const ann = await join('ann')
  ann.peer.close()
  await ann.until(() => ann.peer.closed.aborted)
  slow = true
  const again = link()
  const back = again.ask('reconnect', { clientId: 'ann', lastSeenServerSeq: 0, subscriptions: [] })
  await again.ask('ping', {})
  world.advance(10_000)
  for (const answer of answers) answer()
  expect(await back).toMatchObject({ type: 'snapshot' })
  const nobody = link()
  const failed = code(nobody.ask('reconnect', { clientId: 'bo', lastSeenServerSeq: 0, subscriptions: [] }))
  await nobody.ask('ping', {})
  world.advance(10_000)
  for (const answer of answers) answer()
  expect(await failed).toBe(-32008)
  world.advance(10_000)
  await nobody.until(() => nobody.peer.closed.aborted)
})

describe('[L12] [S-24] [L12.4] text may be delayed', () => {
  const after = async (maxLatencyMs: number, ms: number) => {
    const all = await testHost()
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: session })
    const ben = await all.join('ben')
    await ben.ask('subscribe', { channel: session, delivery: { maxLatencyMs } })
    await ann.ask('subscribe', { channel: session })
    await ann.echo(ann.dispatch(session, title('x')))
    all.world.advance(ms)
    await ann.ask('ping', {})
    return ben.envelopes.length
  }
  test('[S-57 latencyMs] at 10,000: that long', async () =>
    expect([await after(10_000, 9999), await after(10_000, 10_000)]).toEqual([0, 1]))
  test.each([10_001, 1e300])('[S-57 latencyMs] past 10,000: %d does not delay it further', async (asked) =>
    expect([await after(asked, 9999), await after(asked, 10_000)]).toEqual([0, 1]),
  )
  test('a negative latency counts as none', async () => expect(await after(-5, 0)).toBe(1))
})

describe('[L6] [L6.1] after a restart only the newest actions are recognized as resends', () => {
  const again = async (count: number) => {
    const all = await testHost()
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: session })
    await ann.ask('subscribe', { channel: session })
    for (let i = 1; i <= count; i++) ann.dispatch(session, title(`${i}`))
    await ann.until(() => ann.envelopes.length === count)
    ann.peer.close()
    const back = await all.join('ann', { subscribe: [session] })
    return (await back.echo(back.dispatch(session, title('1'), 1))).rejectionReason
  }
  test('[S-57 resends] at 256: the oldest is recognized', async () =>
    expect(await again(256)).toContain('already accepted'))
  test('[S-57 resends] past 256: it counts as a new action', async () =>
    expect(await again(257)).toBeUndefined())
})

describe('[L15] S-23: the root config', () => {
  const change = (config: object) => ({ type: 'root/configChanged', config })
  const filled = async (length: number) => {
    const all = await testHost()
    const ann = await all.join('ann', { subscribe: [root] })
    await ann.echo(ann.dispatch(root, change({ first: 'x'.repeat(1000) })))
    const bare = JSON.stringify({ first: '', second: '' }).length
    const second = 'y'.repeat(length - bare - 1000)
    const { rejectionReason } = await ann.echo(ann.dispatch(root, change({ second })))
    return { ann, rejectionReason }
  }
  test('[S-57 configLength] at 1,048,576: a change is accepted', async () =>
    expect((await filled(1_048_576)).rejectionReason).toBeUndefined())
  test('[S-57 configLength] past 1,048,576: it is refused, and a change that shortens the config is not', async () => {
    const { ann, rejectionReason } = await filled(1_048_577)
    expect(rejectionReason).toContain('at most 1048576 characters')
    expect((await ann.echo(ann.dispatch(root, change({ first: 'z' })))).rejectionReason).toBeUndefined()
    expect(ann.state(root)).toMatchObject({ config: { values: { first: 'z' } } })
  })
})
