import { expect, test } from 'vitest'
import { failureIn, later, modelRoom, textOf, world } from '../../../test/model-room.ts'
import { agentAt, apis } from '../../../test/model-providers.ts'
import { modelServer } from '../../../test/model-server.ts'
import { callError, scriptedProvider } from '../../../test/scripted-model.ts'
import { HostlessChat } from '../../../../host/test/hostless-chat.ts'
import { agentOn } from '../model.ts'
import { modelProblem } from './errors.ts'

const provider = { ...scriptedProvider(), keyVariable: 'MOCK_KEY' }
const problem = (error: unknown, key?: string) => modelProblem(error, provider, 'one', key)
const inJson = (message: string, more: object = {}) =>
  JSON.stringify({ error: { type: 'error', message, ...more } })

test.each([
  [429, undefined, 'overloaded', 'is busy (429). Resume this turn later.', true],
  [529, undefined, 'overloaded', 'is busy (529). Resume this turn later.', true],
  [500, inJson('Oops'), 'provider', 'failed (500): Oops. Resume this turn later.', true],
  [502, '<html>bad gateway</html>', 'provider', 'failed (502): Bad Gateway. Resume this turn later.', true],
  [503, inJson(''), 'provider', 'failed (503)', true],
  [504, inJson('Too slow!'), 'provider', 'failed (504): Too slow! Resume', true],
  [408, inJson('Slow'), 'provider', 'failed (408): Slow. Resume', true],
  [501, inJson('Never'), 'provider', 'failed (501): Never. Resume this turn later.', false],
  [401, inJson('Who?'), 'auth-required', 'refused the key. Correct', false],
  [403, inJson('No.'), 'auth-required', 'does not let this key use', false],
  [400, inJson('Bad field'), 'model', 'refused the request (400): Bad field.', false],
  [422, inJson('Odd'), 'model', 'refused the request (422): Odd.', false],
  [402, inJson('Pay'), 'quota', 'has no credit left for this key (402): Pay. Resume', false],
  [
    429,
    inJson('You exceeded your current quota', { type: 'insufficient_quota', code: 'insufficient_quota' }),
    'quota',
    'has no credit left for this key (429): You exceeded',
    false,
  ],
  [400, inJson('Your credit balance is too low'), 'quota', 'has no credit left for this key (400)', false],
])(
  '[N28.1] [N28.2] [N28.3] [N28] every provider: status %d with the body %s is the error %s',
  async (status, body, type, words, repeated) => {
    for (const api of apis) {
      const server = await modelServer()
      server.open = true
      const asError = api.name === 'Anthropic' ? body?.replace('{', '{"type":"error",') : body
      const error = { status, ...(asError !== undefined && { body: asError }) }
      server.errors.push(...Array.from({ length: 5 }, () => error))
      const run = new HostlessChat(agentAt(server, api)).begin('say hello')
      await run.end()
      const times = repeated ? ' The request was made 5 times.' : ''
      expect([api.name, run.failure]).toMatchObject([
        api.name,
        { name: 'TurnFailed', errorType: type, message: expect.stringContaining(`${api.name} ${words}`) },
      ])
      expect(run.failure).toMatchObject({ message: expect.stringMatching(new RegExp(`${times}$`)) })
      expect([api.name, server.requests.length]).toEqual([api.name, repeated ? 5 : 1])
    }
  },
)

test('[N28] a failure of the provider is not called busy, and the turn keeps one line about the repetition', async () => {
  const { turn, provider: mock, ann, state } = await modelRoom()
  const usual = mock.model.doStream
  let failures = 2
  mock.model.doStream = async (options) => {
    if (failures-- > 0) throw callError(500)
    return usual(options)
  }
  const done = await turn('say hello')
  expect(done.responseParts).toMatchObject([
    {
      kind: 'systemNotification',
      content: 'Mock failed (500). The request is repeated, at most 4 times.',
    },
    { kind: 'markdown', content: 'hello' },
  ])
  expect(state()).not.toHaveProperty('activity')
  expect(JSON.stringify(ann.envelopes)).not.toContain('busy')
})

test('[N28] an interrupted text is continued in its part, also if the repeated request fails at first', async () => {
  const { turn, provider: mock, resume } = await modelRoom()
  const usual = mock.model.doStream
  const failed = await turn('say half and ; break')
  expect(failureIn(failed)?.message).toBe('The response of Mock ended early. Resume this turn to continue.')
  let failures = 1
  mock.model.doStream = async (options) => {
    if (failures-- > 0) throw callError(529)
    return usual({
      ...options,
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'say  half' }] }],
    })
  }
  const done = await resume(failed.id)
  expect(done.responseParts.filter(({ kind }) => kind === 'markdown')).toHaveLength(1)
  expect(textOf(done)).toBe('half and half')
})

test.each([
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after-ms': '1500', 'retry-after': '7' }, 1500],
  [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:10 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 10_000],
  [{ 'retry-after': '-5' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '1e999' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:10 GMT' }, undefined],
  [{ 'retry-after': '60' }, 60_000],
])('[N28] the headers %j ask for a delay of %s ms', (headers: Record<string, string>, ms) => {
  expect(problem(callError(429, headers)).retry).toEqual({
    reason: 'Mock is busy (429)',
    ...(ms !== undefined && { afterMs: ms }),
  })
})

test('[N28] a provider that asks for more than 60 s is not asked again, and the turn says how long to wait', async () => {
  const mock = scriptedProvider()
  const delays: number[] = []
  const slow = { ...world, later: (ms: number, task: () => void) => (delays.push(ms), later(ms, task)) }
  let requests = 0
  mock.model.doStream = async () => {
    requests++
    throw callError(429, { 'retry-after': '3600' })
  }
  const run = new HostlessChat(agentOn([mock], { world: slow })).begin('say x')
  await run.end()
  expect([delays, requests]).toEqual([[], 1])
  expect(run.failure).toMatchObject({
    resumable: true,
    message: 'Mock is busy (429). It asks to wait for 3600 s. Resume this turn after that.',
  })
})

test.each([
  [{ type: 'overloaded_error', message: 'Overloaded' }, 'overloaded', true],
  [{ type: 'rate_limit_error', message: 'Slow down' }, 'overloaded', true],
  [{ type: 'api_error', message: 'It broke' }, 'provider', true],
  [{ code: 'server_error', message: 'It broke' }, 'provider', true],
  [{ code: 502, message: 'upstream' }, 'provider', true],
  [{ code: '429', message: 'upstream' }, 'overloaded', true],
  [{ code: 9, message: 'odd' }, 'model', false],
  ['Internal server error', 'provider', true],
  [{ error: { code: 'rate_limit_exceeded' } }, 'overloaded', true],
  [undefined, 'model', false],
  [null, 'model', false],
  [42, 'model', false],
  [{ message: 7 }, 'model', false],
])('[N28.1] [N28] the error %j in a stream is of the type %s', (error, type, repeated) => {
  const { failure, retry } = problem(error)
  expect([failure.errorType, failure.resumable, retry !== undefined]).toEqual([type, true, repeated])
})

const network = (code: string) =>
  Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('x'), { code }) })

test.each([
  [network('ECONNREFUSED'), 'Mock cannot be reached at https://mock.example (ECONNREFUSED). Check', true],
  [network('ENOTFOUND'), 'Mock cannot be reached at https://mock.example (ENOTFOUND). Check', true],
  [
    Object.assign(network('CERT_HAS_EXPIRED'), { isRetryable: true }),
    'Mock has no valid certificate at https://mock.example (CERT_HAS_EXPIRED).',
    false,
  ],
  [
    new TypeError('Cannot convert argument to a ByteString'),
    'The key for Mock has characters that cannot be sent. Correct MOCK_KEY where the host',
    false,
  ],
])('[N28.1] [N28.2] [N28] %s: %s', (error, message, repeated) => {
  const { failure, retry } = problem(error)
  expect([failure.message.slice(0, message.length), retry !== undefined]).toEqual([message, repeated])
})

test.each([
  [new TypeError('terminated'), ''],
  [network('UND_ERR_SOCKET'), ' (UND_ERR_SOCKET)'],
  [network('ECONNRESET'), ' (ECONNRESET)'],
])('[N28] %s is reported as a connection that broke off', (error, code) => {
  const { failure, retry } = problem(error)
  expect(failure.message).toBe(`The connection to Mock broke off${code}. Resume this turn to go on.`)
  expect(retry).toEqual({ reason: 'The connection to Mock broke off' })
})

test('[N28.2] [N28] a redirect is reported as one, and the request is not repeated', async () => {
  for (const api of apis) {
    const server = await modelServer()
    server.open = true
    server.errors.push({ status: 307, headers: { location: 'http://127.0.0.1:9/' } })
    const run = new HostlessChat(agentAt(server, api)).begin('say hello')
    await run.end()
    expect([run.failure, server.requests.length]).toMatchObject([
      { message: expect.stringContaining('with a redirect. It is not followed') },
      1,
    ])
  }
})

test('[N28.4] [N28] S-27: no message contains the key, or anything that looks like one', () => {
  const key = 'very secret'
  const words = `key very secret, sk-abcdefghij and Bearer abcdefgh`
  for (const status of [400, 402, 408, 429, 500, 503]) {
    const error = Object.assign(callError(status), { message: words, responseBody: words })
    const { message } = problem(error, key).failure
    for (const secret of [key, 'sk-abc', 'abcdefgh']) expect(message).not.toContain(secret)
  }
  const cyclic = new Error('x')
  cyclic.cause = cyclic
  expect(problem(cyclic).failure.errorType).toBe('model')
})
