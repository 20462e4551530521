import { describe, expect, test } from 'vitest'
import { callsIn, failureIn, houseOf, session, textOf, world, yes } from '../../test/model-house.ts'
import { goodKey, modelServer } from '../../test/model-server.ts'
import type { ModelServer } from '../../test/model-server.ts'
import { Stage } from '../../../host/test/stage.ts'
import { modelAgent } from './model.ts'
import type { ModelsConfig } from './provider/config.ts'

/** The three ways to speak to a model, on one server. */
interface Way {
  readonly model: string
  readonly name: string
  readonly variable: string
  readonly path: string
}
const ways: readonly Way[] = [
  {
    model: 'anthropic/claude-opus-5-5',
    name: 'Anthropic',
    variable: 'ANTHROPIC_API_KEY',
    path: '/v1/messages',
  },
  { model: 'openai/gpt-5.5', name: 'OpenAI', variable: 'OPENAI_API_KEY', path: '/v1/responses' },
  { model: 'local/llama', name: 'local', variable: 'LOCAL_KEY', path: '/v1/chat/completions' },
]

function agentAt(server: ModelServer, way: Way, key: string | undefined = goodKey, more: ModelsConfig = {}) {
  const price = { input: 1, output: 10, cacheRead: 0.1 }
  const facts = { id: way.model.split('/')[1] ?? '', price, efforts: ['low', 'high'] }
  const models: ModelsConfig = {
    anthropic: { models: [facts] },
    openai: { models: [facts] },
    compatible: { local: { baseUrl: `${server.url}/v1/`, apiKeyVariable: 'LOCAL_KEY', models: [facts] } },
    default: way.model,
    ...more,
  }
  const bases = { ANTHROPIC_BASE_URL: server.url, OPENAI_BASE_URL: `${server.url}/v1` }
  const environment = { ...bases, ...(key !== undefined && { [way.variable]: key }) }
  return modelAgent({ models, environment, world, platform: 'test' })
}

describe.each(ways)('$name', (way) => {
  test('[N20] a whole turn: thoughts, text, a call that is read, one that asks, and what it cost', async () => {
    const server = await modelServer()
    const { begin, ended, pending, answer, terminals } = await houseOf(agentAt(server, way), {
      'a.txt': 'one',
    })
    const turnId = await begin(
      'think let me see ; say I look. ; call read {"path":"a.txt"} ; call run {"command":"make"} ; say All done.',
      { model: { id: way.model, config: { effort: 'high' } } },
    )
    await pending(1)
    await answer(1, yes)
    const turn = await ended(turnId)
    expect(failureIn(turn)).toBeUndefined()
    expect(turn.responseParts.map(({ kind }) => kind)).toEqual([
      'reasoning',
      'markdown',
      'toolCall',
      'toolCall',
      'markdown',
    ])
    expect(turn.responseParts[0]).toMatchObject({ content: 'let me see' })
    expect(textOf(turn)).toBe('I look.All done.')
    expect(terminals.shells.map(({ start }) => start.command)).toEqual(['make'])
    expect(turn.usage).toMatchObject({
      inputTokens: 300,
      outputTokens: 21,
      cacheReadTokens: 120,
      model: way.model,
    })
    expect(turn.usage?._meta).toEqual({ 'x-atrium': { context: 107, done: true, cost: 0.000402 } })
    expect(server.asked.map(({ path }) => path)).toEqual([way.path, way.path, way.path])
    expect(JSON.stringify(server.asked[0]?.body)).toContain('high')
    // It stands there as it was asked for, and not as it was thought.
    expect(JSON.stringify(server.asked[2]?.body).split('let me see')).toHaveLength(2)
  })

  test('[N20] no key, or one that is refused: the turn says what to do, and resumed with another key it goes on', async () => {
    const server = await modelServer()
    const { turn, ann, resume, all } = await houseOf(agentAt(server, way, ''))
    const without = await turn('say hello')
    expect(failureIn(without)).toMatchObject({ errorType: 'auth-required', resumable: true })
    expect(failureIn(without)?.message).toContain(
      `There is no key for ${way.name}. Set ${way.variable} where the host`,
    )
    expect(server.asked).toEqual([])
    const resource = way.name === 'Anthropic' ? server.url : `${server.url}/v1`
    await ann.ask('authenticate', { resource, token: 'sk-bad-secret-0000' })
    const refused = await resume(without.id)
    expect(failureIn(refused)?.message).toContain(`${way.name} refused the key. Correct ${way.variable}`)
    await ann.ask('authenticate', { resource, token: goodKey })
    expect(textOf(await resume(without.id))).toBe('hello')
    const all_ = JSON.stringify([
      ann.envelopes,
      ann.notes,
      all.world.reports,
      all.core().log.channel(session)?.committed,
    ])
    expect(all_).not.toContain('sk-bad-secret')
    expect(all_).not.toContain(goodKey)
    expect(server.asked.map(({ key }) => key)).toEqual(['sk-bad-secret-0000', goodKey])
  })

  test('[N28] too many requests, then an answer; and what is refused for good is said, without the key', async () => {
    const server = await modelServer()
    const stage = new Stage(agentAt(server, way))
    // On a stage whoever asks for a token has one.
    server.open = true
    server.troubles.push({ status: 429, headers: { 'retry-after': '0' } }, { status: 500 })
    expect(textOf(await stage.turn('say at last'))).toBe('at last')
    expect(server.asked).toHaveLength(3)
    const { turn } = await houseOf(agentAt(server, way))
    const { message } = failureIn(await turn('fail 400')) ?? {}
    expect(message).toContain(`${way.name} refused the request (400): `)
    expect(message).not.toContain(goodKey)
    expect(server.asked.at(-1)?.key).toBe(goodKey)
  })

  test.each([
    ['junk', ''],
    ['say half of ; break', 'half of '],
  ])('[N28] %j: what cannot be understood fails the turn, which can be resumed', async (words, said) => {
    const server = await modelServer()
    server.open = true
    const run = new Stage(agentAt(server, way)).begin(words)
    const turn = await run.end()
    expect([turn.state, textOf(turn)]).toEqual([
      'error',
      said.trim() === '' ? said : expect.stringContaining('half'),
    ])
    expect(run.failure).toMatchObject({ name: 'TurnFailed', resumable: true })
  })

  test('[N27] a turn that is cancelled hangs up', async () => {
    const server = await modelServer()
    const { begin, ended, until, dispatch } = await houseOf(agentAt(server, way))
    const turnId = await begin('say wait for it ; hang')
    await until(({ activeTurn }) => textOf(activeTurn).includes('wait'))
    await dispatch({ type: 'chat/turnCancelled', turnId, duration: 1 })
    expect((await ended(turnId)).state).toBe('cancelled')
    while (server.asked[0]?.left !== true) await new Promise((resolve) => setImmediate(resolve))
  })

  test('[N28] a model that there is not, and nobody at all, are told apart', async () => {
    const server = await modelServer()
    server.open = true
    const agent = agentAt(server, way)
    const run = new Stage(agent).begin('fail 404')
    await run.end()
    expect(run.failure).toMatchObject({ message: expect.stringContaining(`${way.name} has no model`) })
    const nowhere = new Stage(agentAt({ ...server, url: 'http://127.0.0.1:9' }, way)).begin('say x')
    await nowhere.end()
    expect(nowhere.failure).toMatchObject({
      resumable: true,
      message: expect.stringContaining('cannot be reached'),
    })
  })
})

test('[N20] what is called for by several models at once does not mix', async () => {
  const server = await modelServer()
  server.open = true
  const runs = ways.map((way, i) =>
    new Stage(agentAt(server, way), { uri: `c:/${i}` }).begin(`say ${way.name} ; call list {} ; say too`),
  )
  const turns = await Promise.all(runs.map((run) => run.end()))
  expect(turns.map(textOf)).toEqual(ways.map(({ name }) => `${name}too`))
  expect(turns.map((turn) => callsIn(turn).length)).toEqual([1, 1, 1])
})

test.each(ways)('[N20] S-48: $name that sends elsewhere does not get the key sent there', async (way) => {
  const [server, other] = [await modelServer(), await modelServer()]
  server.open = true
  server.troubles.push(
    ...Array.from({ length: 5 }, () => ({ status: 307, headers: { location: `${other.url}${way.path}` } })),
  )
  const run = new Stage(agentAt(server, way)).begin('say hello')
  expect((await run.end()).state).toBe('error')
  expect([server.asked.length > 0, other.asked]).toEqual([true, []])
})
