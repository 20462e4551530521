import { describe, expect, test } from 'vitest'
import { testHost } from '../../../host/test/test-host.ts'
import { callsIn, failureIn, agentRoom, session, textOf, yes } from '../../test/model-room.ts'
import { agentAt, apis } from '../../test/model-providers.ts'
import { goodKey, modelServer } from '../../test/model-server.ts'
import { HostlessChat } from '../../../host/test/hostless-chat.ts'

describe.each(apis)('$name', (api) => {
  test('[N20] a whole turn has reasoning, text, a call without approval, a call with approval, and the cost', async () => {
    const server = await modelServer()
    const { begin, ended, pending, answer, terminals } = await agentRoom(agentAt(server, api), {
      'a.txt': 'one',
    })
    const turnId = await begin(
      'think let me see ; say I look. ; call read {"path":"a.txt"} ; call run {"command":"make"} ; say All done.',
      { model: { id: api.model, config: { effort: 'high' } } },
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
      model: api.model,
    })
    expect(turn.usage?._meta).toEqual({ 'x-atrium': { context: 107, done: true, cost: 0.000402 } })
    expect(server.requests.map(({ path }) => path)).toEqual([api.path, api.path, api.path])
    expect(JSON.stringify(server.requests[0]?.body)).toContain('high')
    // The text occurs only once, in the user's message. So the reasoning is not sent back.
    expect(JSON.stringify(server.requests[2]?.body).split('let me see')).toHaveLength(2)
  })

  test('[N20.1] [N20.2] [N20] without a key, or with a refused one, the turn fails and says what to do; it is resumed with another key', async () => {
    const server = await modelServer()
    const resource = api.name === 'Anthropic' ? server.url : `${server.url}/v1`
    const signIn = { resource, token: 'sk-bad-secret-0000' }
    const { turn, ann, resume, host } = await agentRoom(agentAt(server, api, ''), {}, { signIn })
    await ann.ask('authenticate', { resource, token: '' })
    const without = await turn('say hello')
    expect(failureIn(without)).toMatchObject({ errorType: 'auth-required', resumable: true })
    expect(failureIn(without)?.message).toContain(
      `There is no key for ${api.name}. Set ${api.variable} where the host`,
    )
    expect(server.requests).toEqual([])
    await ann.ask('authenticate', signIn)
    const refused = await resume(without.id)
    expect(failureIn(refused)?.message).toContain(`${api.name} refused the key. Correct ${api.variable}`)
    await ann.ask('authenticate', { resource, token: goodKey })
    expect(textOf(await resume(without.id))).toBe('hello')
    const everything = JSON.stringify([
      ann.envelopes,
      ann.notes,
      host.world.reports,
      host.core().log.channel(session)?.committed,
    ])
    expect(everything).not.toContain('sk-bad-secret')
    expect(everything).not.toContain(goodKey)
    expect(server.requests.map(({ key }) => key)).toEqual(['sk-bad-secret-0000', goodKey])
    const notes = ann.notes.flatMap(({ method, params }) => (method === 'auth/required' ? [params] : []))
    expect(notes).toContainEqual(
      expect.objectContaining({
        resource: { resource, resource_name: api.name },
        reason: 'required',
      }),
    )
    expect(notes.at(-1)).toMatchObject({ resource: { resource }, reason: 'expired' })
  })

  test('[N20.2] without any key, a session is refused with -32007 and the resource of the key, until a user signs in', async () => {
    const server = await modelServer()
    const host = await testHost({ agents: [agentAt(server, api, '')] })
    const ann = await host.join('ann')
    const resource = api.name === 'Anthropic' ? server.url : `${server.url}/v1`
    const create = () => ann.ask('createSession', { channel: session })
    await expect(create()).rejects.toMatchObject({
      code: -32007,
      message: expect.stringContaining(`needs a key: set ANTHROPIC_API_KEY or OPENAI_API_KEY`) as string,
      data: {
        resources: expect.arrayContaining([
          { resource, resource_name: api.name, required: false },
        ]) as unknown,
      },
    })
    await ann.ask('authenticate', { resource, token: goodKey })
    await create()
  })

  test('[N28] after 429 and 500 the request is repeated; a permanent error is reported without the key', async () => {
    const server = await modelServer()
    const stage = new HostlessChat(agentAt(server, api))
    // A HostlessChat has a token for every resource. The agent sends this token and not the configured key, so the server
    // must accept any key.
    server.open = true
    server.errors.push({ status: 429, headers: { 'retry-after': '0' } }, { status: 500 })
    expect(textOf(await stage.turn('say at last'))).toBe('at last')
    expect(server.requests).toHaveLength(3)
    const { turn } = await agentRoom(agentAt(server, api))
    const { message } = failureIn(await turn('fail 400')) ?? {}
    expect(message).toContain(`${api.name} refused the request (400): `)
    expect(message).not.toContain(goodKey)
    expect(server.requests.at(-1)?.key).toBe(goodKey)
  })

  test.each([
    ['junk', ''],
    ['say half of ; break', 'half of '],
  ])('[N28.3] [N28] %j: a broken response fails the turn, which can be resumed', async (script, text) => {
    const server = await modelServer()
    server.open = true
    const run = new HostlessChat(agentAt(server, api)).begin(script)
    const turn = await run.end()
    expect([turn.state, textOf(turn)]).toEqual([
      'error',
      text.trim() === '' ? text : expect.stringContaining('half'),
    ])
    expect(run.failure).toMatchObject({ name: 'TurnFailed', resumable: true })
  })

  test('[N27] cancelling a turn closes its connection', async () => {
    const server = await modelServer()
    const { begin, ended, until, dispatch } = await agentRoom(agentAt(server, api))
    const turnId = await begin('say wait for it ; hang')
    await until(({ activeTurn }) => textOf(activeTurn).includes('wait'))
    await dispatch({ type: 'chat/turnCancelled', turnId, duration: 1 })
    expect((await ended(turnId)).state).toBe('cancelled')
    while (server.requests[0]?.aborted !== true) await new Promise((resolve) => setImmediate(resolve))
  })

  test('[N28] an unknown model and an unreachable provider have different errors', async () => {
    const server = await modelServer()
    server.open = true
    const agent = agentAt(server, api)
    const run = new HostlessChat(agent).begin('fail 404')
    await run.end()
    expect(run.failure).toMatchObject({ message: expect.stringContaining(`${api.name} has no model`) })
    const nowhere = new HostlessChat(agentAt({ ...server, url: 'http://127.0.0.1:9' }, api)).begin('say x')
    await nowhere.end()
    expect(nowhere.failure).toMatchObject({
      resumable: true,
      message: expect.stringContaining('cannot be reached'),
    })
  })
})

test('[N20] concurrent turns on several providers do not mix', async () => {
  const server = await modelServer()
  server.open = true
  const runs = apis.map((api, i) =>
    new HostlessChat(agentAt(server, api), { uri: `c:/${i}` }).begin(
      `say ${api.name} ; call list {} ; say too`,
    ),
  )
  const turns = await Promise.all(runs.map((run) => run.end()))
  expect(turns.map(textOf)).toEqual(apis.map(({ name }) => `${name}too`))
  expect(turns.map((turn) => callsIn(turn).length)).toEqual([1, 1, 1])
})

test.each(apis)('[N20] S-48: a key is not sent to the target of a redirect by $name', async (api) => {
  const [server, other] = [await modelServer(), await modelServer()]
  server.open = true
  server.errors.push(
    ...Array.from({ length: 5 }, () => ({ status: 307, headers: { location: `${other.url}${api.path}` } })),
  )
  const run = new HostlessChat(agentAt(server, api)).begin('say hello')
  expect((await run.end()).state).toBe('error')
  expect([server.requests.length > 0, other.requests]).toEqual([true, []])
})
