import { expect, test } from 'vitest'
import { AhpError, errorCodes } from '../errors.ts'
import { pair } from './pair.ts'
import { LinkClosed, Peer } from './peer.ts'
import type { Receiver } from './peer.ts'
import type { Transport } from './transport.ts'

const silent: Receiver = { request: () => null, notification: () => {} }

/** A peer on one end of a pair. The test reads and writes raw frames on the other end. */
function bare(receiver: Partial<Receiver> = {}, report: (problem: unknown) => void = () => {}) {
  const [near, far] = pair()
  const peer = new Peer(near, { ...silent, ...receiver }, { report })
  const frames = reader(far)
  const ask = async (frame: unknown) => {
    far.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
    const response: unknown = JSON.parse(await frames())
    return response
  }
  return { peer, far, frames, ask }
}

/** Returns a function that resolves with the next frame. */
function reader(transport: Transport): () => Promise<string> {
  const got: string[] = []
  const waiting: ((frame: string) => void)[] = []
  transport.receive((frame) => {
    const next = waiting.shift()
    if (next) next(frame)
    else got.push(frame)
  })
  return () => {
    const frame = got.shift()
    return frame === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(frame)
  }
}

const failure = (id: unknown, code: number) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: expect.any(String) },
})

test('[R3] both sides may send requests', async () => {
  const [a, b] = pair()
  const ann = new Peer(a, { ...silent, request: (method, params) => ({ by: 'ann', method, params }) })
  const ben = new Peer(b, { ...silent, request: async (method) => ({ by: 'ben', method }) })
  expect(await ann.request('one', { n: 1 })).toEqual({ by: 'ben', method: 'one' })
  expect(await ben.request('two', { n: 2 })).toEqual({ by: 'ann', method: 'two', params: { n: 2 } })
})

test.each([
  ['not JSON', '{"a":', null, errorCodes.ParseError],
  ['an empty frame', '', null, errorCodes.ParseError],
  ['a batch', '[]', null, errorCodes.InvalidRequest],
  ['a number', '7', null, errorCodes.InvalidRequest],
  ['null', 'null', null, errorCodes.InvalidRequest],
  ['no version', '{"id":1,"method":"x"}', 1, errorCodes.InvalidRequest],
  ['another version', '{"jsonrpc":"1.0","id":"q","method":"x"}', 'q', errorCodes.InvalidRequest],
  ['a method that is not a string', '{"jsonrpc":"2.0","id":1,"method":7}', 1, errorCodes.InvalidRequest],
  ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"x"}', null, errorCodes.InvalidRequest],
  ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"x"}', null, errorCodes.InvalidRequest],
  ['an id that is infinite', '{"jsonrpc":"2.0","id":1e999,"method":"x"}', null, errorCodes.InvalidRequest],
  ['neither a method nor a result', '{"jsonrpc":"2.0"}', null, errorCodes.InvalidRequest],
])(
  '[R4] [R4.1] [R4.2] [F-14] %s gets the right error, and the connection stays open',
  async (_, frame, id, code) => {
    const { ask } = bare()
    expect(await ask(frame)).toEqual(failure(id, code))
    expect(await ask({ jsonrpc: '2.0', id: 2, method: 'ping' })).toEqual({
      jsonrpc: '2.0',
      id: 2,
      result: null,
    })
  },
)

test.each([0, -7, 1.5, '', 'a', 2 ** 53])('[R3] a response repeats the id %j unchanged', async (id) => {
  expect(await bare().ask({ jsonrpc: '2.0', id, method: 'x' })).toEqual({ jsonrpc: '2.0', id, result: null })
})

test('[R5] S-27: an AhpError is sent; any other error is sent as an internal error without details', async () => {
  const reports: unknown[] = []
  const receiver = {
    request(method: string): unknown {
      if (method === 'denied') throw AhpError.permissionDenied('no', { uri: 'file:///x' })
      if (method === 'later') return Promise.reject(AhpError.conflict('changed meanwhile'))
      if (method === 'cycle') return 1n
      throw new Error('/home/ann/secret')
    },
  }
  const { ask } = bare(receiver, (problem) => reports.push(problem))
  expect(await ask({ jsonrpc: '2.0', id: 1, method: 'denied' })).toEqual({
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32009, message: 'no', data: { request: { uri: 'file:///x' } } },
  })
  expect(await ask({ jsonrpc: '2.0', id: 2, method: 'later' })).toEqual(failure(2, -32011))
  for (const method of ['cycle', 'broken'])
    expect(await ask({ jsonrpc: '2.0', id: 3, method })).toEqual({
      jsonrpc: '2.0',
      id: 3,
      error: { code: -32603, message: 'internal error' },
    })
  expect(reports).toHaveLength(2)
})

test('[R3] a notification is never answered, also when its receiver throws', async () => {
  const reports: unknown[] = []
  const receiver = {
    notification() {
      throw new Error('boom')
    },
  }
  const { ask, far } = bare(receiver, (problem) => reports.push(problem))
  far.send('{"jsonrpc":"2.0","method":"note"}')
  far.send('{"jsonrpc":"2.0","method":"constructor"}')
  expect(await ask({ jsonrpc: '2.0', id: 1, method: 'ping' })).toMatchObject({ id: 1 })
  expect(reports).toHaveLength(2)
})

test('[R6] a synchronous result is sent before the next frame is read', () => {
  // This schedule delivers frames synchronously.
  const [near, far] = pair((task) => task())
  const seen: string[] = []
  new Peer(near, {
    request: (method) => void seen.push(method),
    notification: (method) => void seen.push(method),
  })
  far.receive((frame) => seen.push(`answer ${(JSON.parse(frame) as { id: number }).id}`))
  far.send('{"jsonrpc":"2.0","id":1,"method":"first"}')
  far.send('{"jsonrpc":"2.0","method":"second"}')
  far.send('{"jsonrpc":"2.0","id":2,"method":"third"}')
  expect(seen).toEqual(['first', 'answer 1', 'second', 'third', 'answer 2'])
})

test('[R6] `received` runs before the next notification, also when both frames come in one tick', async () => {
  const tasks: (() => void)[] = []
  const [a, b] = pair((task) => tasks.push(task))
  const seen: unknown[] = []
  const client = new Peer(a, { ...silent, notification: (method) => void seen.push(method) })
  b.receive(() => {})
  const answered = client.request('subscribe', { channel: 'c' }, (result) => seen.push(result))
  b.send('{"jsonrpc":"2.0","id":1,"result":"snapshot"}')
  b.send('{"jsonrpc":"2.0","method":"action"}')
  for (const task of tasks.splice(0)) task()
  await answered
  expect(seen).toEqual(['snapshot', 'action'])
})

test('[R7] after a close, pending and later requests are rejected with LinkClosed', async () => {
  const { peer } = bare()
  const waiting = peer.request('never', {})
  peer.close()
  await expect(waiting).rejects.toBeInstanceOf(LinkClosed)
  await expect(peer.request('late', {})).rejects.toBeInstanceOf(LinkClosed)
  expect(() => peer.notify('late', {})).not.toThrow()
})

test('[R5] an error response becomes an AhpError with its code and data', async () => {
  const { peer, far, frames } = bare()
  const asked = peer.request('x', {})
  const { id } = JSON.parse(await frames()) as { id: number }
  far.send(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32008, message: 'gone', data: { a: 1 } } }))
  await expect(asked).rejects.toMatchObject({
    name: 'AhpError',
    code: -32008,
    message: 'gone',
    data: { a: 1 },
  })
})

test('[R4] [R4.4] a response to no pending request is reported and changes nothing', async () => {
  const reports: unknown[] = []
  const { ask, far } = bare({}, (problem) => reports.push(problem))
  far.send('{"jsonrpc":"2.0","id":99,"result":1}')
  far.send('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"eh"}}')
  expect(await ask({ jsonrpc: '2.0', id: 1, method: 'ping' })).toMatchObject({ id: 1 })
  expect(reports).toHaveLength(2)
})

test.each([
  ['depth 65', '['.repeat(65) + ']'.repeat(65), 1008],
  ['__proto__', '{"jsonrpc":"2.0","id":1,"method":"x","params":{"__proto__":{}}}', 1008],
  ['a frame that is too long', `"${'x'.repeat(4 * 1024 * 1024)}"`, 1009],
])(
  '[R4] [R4.3] S-20: %s gets an error and closes the connection, so no request waits for ever',
  async (_, frame, code) => {
    const [near, far] = pair()
    const closed: unknown[] = []
    const close = near.close.bind(near)
    near.close = (...args) => (closed.push(args[0]), close(...args))
    const peer = new Peer(near, silent)
    const waiting = peer.request('never', {})
    const answers: unknown[] = []
    far.receive((text) => answers.push(JSON.parse(text)))
    far.send(frame)
    await expect(waiting).rejects.toBeInstanceOf(LinkClosed)
    expect(answers.at(-1)).toEqual(failure(null, errorCodes.InvalidRequest))
    expect(closed).toEqual([code])
  },
)

test.each([
  '{"jsonrpc":"2.0","id":1,"result":5,"error":null}',
  '{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}',
  '{"jsonrpc":"2.0","id":1}',
  '{"id":1,"result":5}',
])('[R4] [R4.4] the response %s settles its request, and no error is sent for it', async (frame) => {
  const { peer, far, frames, ask } = bare()
  const asked = peer.request('x', {}).then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  )
  await frames()
  far.send(frame)
  expect(await asked).toEqual(frame.includes('null') ? { result: 5 } : { error: expect.any(AhpError) })
  expect(await ask({ jsonrpc: '2.0', id: 7, method: 'ping' })).toMatchObject({ id: 7 })
})

test('[R5] data that JSON cannot hold, and a rejected notification, leave the connection open', async () => {
  const reports: unknown[] = []
  const receiver: Partial<Receiver> = {
    request: () => Promise.reject(new AhpError(-32011, 'no', { cycle: 1n })),
    notification: () => Promise.reject(new Error('later')) as unknown as void,
  }
  const { ask, far, peer } = bare(receiver, (problem) => reports.push(problem))
  far.send('{"jsonrpc":"2.0","method":"note"}')
  expect(await ask({ jsonrpc: '2.0', id: 1, method: 'x' })).toEqual(failure(1, -32011))
  expect(reports).toHaveLength(2)
  await expect(peer.request('x', { bad: 1n })).rejects.toBeInstanceOf(TypeError)
})

test('[R6] an error in `received` rejects the request', async () => {
  const { peer, far, frames } = bare()
  const asked = peer.request('x', {}, () => {
    throw new Error('no place')
  })
  await frames()
  far.send('{"jsonrpc":"2.0","id":1,"result":1}')
  await expect(asked).rejects.toThrow('no place')
})
