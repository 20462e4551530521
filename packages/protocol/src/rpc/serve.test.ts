import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mutated, valueOf } from '../../test/arbitrary.ts'
import { commands, notifications } from '../commands.ts'
import { AhpError, errorCodes } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import { decode } from '../schema.ts'
import { pair } from './pair.ts'
import { Peer } from './peer.ts'
import { serve } from './serve.ts'
import type { Answers, Listeners } from './serve.ts'

test('[R8] a handler gets checked params, without the nulls that stand for absent keys', () => {
  const receiver = serve({
    resourceRead: ({ uri, encoding }) => ({ data: `${uri} ${encoding}`, encoding: 'utf-8' }),
  })
  const answer = receiver.request('resourceRead', {
    channel: 'ahp-root://',
    uri: 'file:///a',
    encoding: null,
  })
  expect(answer).toEqual({ data: 'file:///a undefined', encoding: 'utf-8' })
})

test.each(['nothing', 'constructor', '__proto__', 'toString', 'listSessions'])(
  '[R8] S-14: %s is an unknown method if the table has no function for it',
  (method) => {
    const receiver = serve({ ping: () => null })
    expect(() => receiver.request(method, {})).toThrow(AhpError)
    expect(() => receiver.notification(method, {})).toThrow(AhpError)
    try {
      receiver.request(method, {})
    } catch (error) {
      expect(error).toMatchObject({ code: errorCodes.MethodNotFound })
    }
  },
)

test('[R8] the error names the wrong param', () => {
  const receiver = serve({ subscribe: () => ({}) })
  expect(() => receiver.request('subscribe', {})).toThrow('subscribe: channel: expected string')
  expect(() => receiver.request('subscribe', { channel: 'a', view: { turns: -1 } })).toThrow('view.turns')
  expect(() => receiver.request('subscribe', [])).toThrow('subscribe')
})

test('[R8] the channel of a connection-level command may be missing', () => {
  const receiver = serve({ reconnect: () => ({ type: 'snapshot', snapshots: [] }) })
  const params = { clientId: 'c', lastSeenServerSeq: 1, subscriptions: [] }
  expect(receiver.request('reconnect', params)).toEqual({ type: 'snapshot', snapshots: [] })
})

/** Whether a message counts as a response, for which a peer never sends an error. */
function isResponse(value: unknown): boolean {
  if (!isJsonObject(value)) return false
  const { id, method } = value
  return method === undefined && (typeof id === 'number' || typeof id === 'string')
}

describe('[R9] S-15: valid messages with one fault', () => {
  const seen: { method: string; params: unknown }[] = []
  const handler = (method: string) => (params: unknown) => {
    seen.push({ method, params })
    return {}
  }
  const answers = Object.fromEntries(
    [...commands.keys()].map((method) => [method, handler(method)]),
  ) as Answers
  const listeners = Object.fromEntries(
    [...notifications.keys()].map((method) => [method, handler(method)]),
  ) as Listeners
  const paramsName = (method: string) => {
    const words = method.replace(/^root\//, '').split('/')
    return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Params`
  }
  const methods = [...commands.keys(), ...notifications.keys()]
  const message = fc.constantFrom(...methods).chain((method) =>
    fc.record({
      jsonrpc: fc.constant('2.0'),
      id: fc.nat(),
      method: fc.constant(method),
      params: valueOf(paramsName(method)),
    }),
  )

  test('[R9.1] [R9.3] get a result or a JSON-RPC error, reach no handler unchecked, and cause no internal error', async () => {
    const broken: unknown[] = []
    const answerTo = async (...frames: readonly string[]): Promise<string> => {
      const [near, far] = pair()
      new Peer(near, serve(answers, listeners), {
        report: (problem) => problem instanceof AhpError || broken.push(problem),
      })
      const answered = new Promise<string>((resolve) => far.receive(resolve))
      for (const frame of frames) far.send(frame)
      return answered
    }
    const codes = new Set<number>([
      errorCodes.InvalidRequest,
      errorCodes.MethodNotFound,
      errorCodes.InvalidParams,
    ])
    await fc.assert(
      fc.asyncProperty(message.chain(mutated), async (mutant) => {
        seen.length = 0
        broken.length = 0
        const isNotification =
          typeof mutant === 'object' && mutant !== null && !('id' in mutant) && 'method' in mutant
        const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
        const text = JSON.stringify(mutant) ?? 'undefined'
        const { error } = JSON.parse(
          await (isNotification || isResponse(mutant) ? answerTo(text, ping) : answerTo(text)),
        ) as { error?: { code: number } }
        if (error) expect(codes.has(error.code) || error.code === errorCodes.ParseError).toBe(true)
        for (const { method, params } of seen) {
          const schema = commands.get(method)?.params ?? notifications.get(method)?.params
          expect(schema && decode(schema, params)).toEqual({ ok: true, value: params })
        }
        if (!isResponse(mutant)) expect(broken).toEqual([])
      }),
      { numRuns: 2000 },
    )
  })
})
