import type { Transport } from '@atrium/protocol/rpc/transport'
import { describe, expect, test } from 'vitest'
import { Client, testHost } from '../../test/test-host.ts'
import type { TestHost } from '../../test/test-host.ts'

const root = 'ahp-root://'
const session = 'ahp-session:/one'

/** Ann in a session, with her raw transport, so that any text can be sent. */
async function alone(): Promise<TestHost & { ann: Client; far: Transport }> {
  const all = await testHost()
  const [, far] = all.wire()
  const ann = new Client(far)
  await ann.initialize('ann', [root])
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: 'used' }, 1000))
  await ann.until(() => ann.state(root)['activeSessions'] === 1)
  ann.envelopes.length = 0
  return { ...all, ann, far }
}

const dispatch = (channel: string, clientSeq: string, action: string) =>
  `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"${channel}","clientSeq":${clientSeq},"action":${action}}}`
const config = (value: string, seq = '7') =>
  dispatch(root, seq, `{"type":"root/configChanged","config":{"x":${value}}}`)
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe('[R2] [S-18] pollution', () => {
  const ending = [
    config('{"__proto__":{"polluted":1}}'),
    config('{"\\u005f\\u005fproto\\u005f\\u005f":{"polluted":1}}'),
    config('[[{"a":{"__proto__":null}}]]'),
    '{"jsonrpc":"2.0","__proto__":{"method":"ping"},"id":1}',
    '{"jsonrpc":"2.0","id":1,"method":"createSession","params":{"channel":"a:/b","__proto__":{"polluted":1}}}',
    '{"__proto__" : {"polluted":1}',
  ]
  test.each(ending)('%s closes the link and changes nothing', async (frame) => {
    const { ann, far, join } = await alone()
    far.send(frame)
    await ann.until(() => ann.peer.closed.aborted)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    const ben = await join('ben', { subscribe: [root] })
    expect(ben.state(root)).toMatchObject({ config: { values: {} }, activeSessions: 1 })
  })

  const passing = [
    '{"constructor":{"prototype":{"polluted":1}}}',
    '{"prototype":{"polluted":1},"toString":1,"hasOwnProperty":null,"valueOf":[]}',
    '{"a.__proto__.polluted":1,"__proto__x":1,"__PROTO__":1}',
    '"__proto__"',
  ]
  test.each(passing)('%s is data like any other', async (value) => {
    const all = await alone()
    const { ann, far } = all
    far.send(config(value))
    expect((await ann.echo(7)).rejectionReason).toBeUndefined()
    await all.restart('crash')
    const ben = await all.join('ben', { subscribe: [root] })
    expect(ben.state(root)).toMatchObject({ config: { values: { x: JSON.parse(value) as unknown } } })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(Object.getPrototypeOf((ben.state(root) as { config: object }).config)).toBe(Object.prototype)
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    '%s as a name of anything finds nothing',
    async (name) => {
      const { ann, far, join, core } = await alone()
      const asked = [
        ann.peer.request(name, {}),
        ann.peer.request('subscribe', { channel: name }),
        ann.peer.request('disposeSession', { channel: name }),
        ann.peer.request('createSession', { channel: `ahp-session:/${name}`, provider: name }),
      ]
      for (const one of asked) await expect(one).rejects.toMatchObject({ code: expect.any(Number) })
      far.send(dispatch(session, '7', `{"type":"${name}"}`))
      expect((await ann.echo(7)).rejectionReason).toContain('unknown action')
      if (name !== '__proto__')
        await (await join(name)).ask('createSession', { channel: `ahp-session:/${name}` })
      expect(core().log.channel(name)).toBeUndefined()
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    },
  )
})

describe('[R2] S-18: depth and keys, through a host', () => {
  // The message around the value adds four levels to its depth.
  test('[S-57 depth] at 64: accepted, stored and shown', async () => {
    const all = await alone()
    all.far.send(config(nested(60)))
    expect((await all.ann.echo(7)).rejectionReason).toBeUndefined()
    await all.restart('crash')
    const ben = await all.join('ben', { subscribe: [root] })
    expect(ben.state(root)).toMatchObject({ config: { values: { x: JSON.parse(nested(60)) as unknown } } })
  })

  test.each([61, 5000, 2_000_000])('[S-57 depth] past 64: %d more levels close the link', async (depth) => {
    const { ann, far } = await alone()
    far.send(config(nested(depth)))
    await ann.until(() => ann.peer.closed.aborted)
    expect(ann.envelopes.filter(({ channel, origin }) => channel === root && origin)).toEqual([])
  })

  const keyed = (keys: number) => `{${Array.from({ length: keys }, (_, i) => `"k${i}":0`).join()}}`
  test('[S-57 keys] at 10,000: all are accepted', async () => {
    const { ann, far } = await alone()
    // The message itself has nine more keys.
    far.send(config(keyed(9991)))
    expect((await ann.echo(7)).rejectionReason).toBeUndefined()
    expect(
      Object.keys((ann.state(root) as { config: { values: { x: object } } }).config.values.x),
    ).toHaveLength(9991)
  })
  test('[S-57 keys] past 10,000: the link is closed', async () => {
    const { ann, far } = await alone()
    far.send(config(keyed(9992)))
    await ann.until(() => ann.peer.closed.aborted)
  })
})

describe('[S-19] numbers', () => {
  test.each(['-1', '-0', '0.5', '1e999', '9007199254740992', '-1e999', '"7"', '"NaN"', 'null', '[]', 'true'])(
    '[P7] [P7.1] a clientSeq of %s is refused, and the link stays open',
    async (seq) => {
      const { ann, far, core } = await alone()
      const before = core().log.channel(session)?.head
      far.send(dispatch(session, seq, '{"type":"session/titleChanged","title":"x"}'))
      await ann.ask('listSessions', {})
      expect(core().log.channel(session)?.head).toBe(before)
      expect(
        ann.envelopes.filter(({ channel, rejectionReason }) => channel === session && !rejectionReason),
      ).toEqual([])
    },
  )
  test.each(['0', '1', '9007199254740991', '1e3', '7.0'])(
    '[P7] a clientSeq of %s is accepted',
    async (seq) => {
      const { ann, far } = await alone()
      far.send(dispatch(session, seq, '{"type":"session/titleChanged","title":"x"}'))
      expect(await ann.echo(Number(seq))).not.toHaveProperty('rejectionReason')
    },
  )

  test.each(['1e999', '-1e999', '-0', '[-0.0]', '{"a":{"b":[1,1e400]}}'])(
    '[P3] [P7.2] %s in free JSON is refused: the stored value would differ',
    async (value) => {
      const { ann, far, core } = await alone()
      const before = core().log.channel(root)?.head
      far.send(config(value))
      expect((await ann.echo(7)).rejectionReason).toContain('a number that JSON cannot keep')
      expect(core().log.channel(root)?.head).toBe(before)
    },
  )
  test('[P3] [P7.2] and so it is in a request', async () => {
    const { ann, far } = await alone()
    far.send(
      '{"jsonrpc":"2.0","id":"q","method":"createSession","params":{"channel":"ahp-session:/2","_meta":{"a":1e999}}}',
    )
    await ann.ask('ping', {})
    expect(await ann.ask('listSessions', {})).toMatchObject({ items: [{ resource: session }] })
  })
  /** Sends a frame on a new link, and returns the frame that the host answers with. */
  const answerTo = async (frame: string): Promise<object> => {
    const [, far] = (await testHost()).wire()
    return new Promise((resolve) => {
      far.receive((text) => resolve(JSON.parse(text) as object))
      far.send(frame)
    })
  }
  test.each(['{"a":-0}', '{"_meta":{"a":[1e400]}}', '[-0.0]', '{"channel":7}'])(
    '[P7.2] [R8] a ping with the params %s is refused like any other request',
    async (params) =>
      expect(await answerTo(`{"jsonrpc":"2.0","id":"p","method":"ping","params":${params}}`)).toMatchObject({
        id: 'p',
        error: { code: -32602 },
      }),
  )
  test.each(['-0', '-0.0', '1e400'])('[P7.2] [R3] a request with the id %s is refused', async (id) =>
    expect(await answerTo(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toMatchObject({
      id: null,
      error: { code: -32600 },
    }),
  )
  test.each(['1e308', '5e-324', '9007199254740993', '0.1', '123456789012345678901234567890'])(
    '[L7] [P7.2] %s is stored as the double it is',
    async (value) => {
      const all = await alone()
      all.far.send(config(value))
      await all.ann.echo(7)
      const live = all.core().log.channel(root)?.head
      await all.restart('crash')
      const ben = await all.join('ben', { subscribe: [root] })
      expect(ben.state(root)).toMatchObject({ config: { values: { x: Number(value) } } })
      expect(live).toMatchObject({ config: { values: { x: Number(value) } } })
    },
  )
})

describe('S-19: text', () => {
  const odd = ['\u0000', '\ud800', '\udc00x', '\u202e', '\u2066', '\u0007', '\u009b']
  test.each(odd)('[P6] %j is refused in a name', async (text) => {
    const { ann, link } = await alone()
    for (const [method, params] of [
      ['createSession', { channel: `ahp-session:/${text}` }],
      ['subscribe', { channel: `ahp-session:/${text}` }],
      ['createSession', { channel: 'ahp-session:/2', activeClient: { clientId: text, tools: [] } }],
    ] as const)
      await expect(ann.peer.request(method, params)).rejects.toMatchObject({ code: -32602 })
    await expect(link().initialize(`a${text}`)).rejects.toMatchObject({ code: -32602 })
    expect(await ann.ask('listSessions', {})).toMatchObject({ items: [{ resource: session }] })
  })

  test.each(odd)("[P6] %j is kept as it is in users' text, also on the disk", async (text) => {
    const all = await alone()
    const written = `a${text}b`
    all.ann.dispatch(session, { type: 'session/titleChanged', title: written }, 9)
    expect(await all.ann.echo(9)).toMatchObject({ action: { title: written } })
    await all.restart('crash')
    const ben = await all.join('ben', { subscribe: [session] })
    expect(ben.state(session)).toMatchObject({ title: written })
    expect(await ben.ask('listSessions', {})).toMatchObject({ items: [{ title: written }] })
  })
})
