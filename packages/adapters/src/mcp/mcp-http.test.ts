import { McpAuthRequired } from '@atrium/host/ports/mcp'
import { Server, createMcpHandler, inputRequired } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { callWith, failure, mcpRoom, say } from '../../test/mcp/room.ts'
import { everythingOverHttp, httpServer, listen, listenFetch } from '../../test/mcp/http.ts'
import type { HttpOptions } from '../../test/mcp/http.ts'
import { until } from '../../test/shells.ts'

test.each([
  ['streamableHttp', {}],
  ['streamableHttp', { type: 'http' }],
  ['sse', { type: 'sse' }],
  ['sse', {}],
] as const)(
  '[F1.1] [F1] server-everything over %s, configured as %j: tools, progress and a form',
  async (transport, type) => {
    const { url } = await everythingOverHttp(transport)
    const room = mcpRoom()
    const { server } = room.open({ url, ...type })
    expect(await say(server, 'echo', { message: 'hi' })).toBe('Echo: hi')
    const steps = callWith()
    await server.call('trigger-long-running-operation', { duration: 1, steps: 2 }, steps)
    expect(steps.reported[0]).toMatchObject({ fraction: 0.5 })
    const call = callWith({ answers: { response: 'decline' } })
    await server.call('trigger-elicitation-request', {}, call)
    expect(call.questions).toHaveLength(1)
  },
)

test('[F1] a server of the new era over HTTP: tools and a form, shared by two sessions', async () => {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'new', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({
      tools: [{ name: 'ask', inputSchema: { type: 'object' } }],
    }))
    server.setRequestHandler('tools/call', (_, { mcpReq }) => {
      const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } }
      const form = inputRequired.elicit({ message: 'Who?', requestedSchema })
      const answer = mcpReq.inputResponses?.['form']
      return answer
        ? { content: [{ type: 'text', text: JSON.stringify(answer) }] }
        : inputRequired({ inputRequests: { form } })
    })
    return server
  })
  const { url } = await listenFetch((request) => handler.fetch(request))
  const room = mcpRoom()
  const uses = ['1', '2'].map((id) => room.open({ url }, { session: `ahp-session:/${id}` }).server)
  for (const server of uses) {
    const call = callWith({ answers: { response: 'decline' } })
    expect(JSON.stringify(await server.call('ask', {}, call))).toContain('decline')
    expect(call.questions).toHaveLength(1)
  }
  expect(room.pool.running).toBe(1)
})

test('[F2] a server that cannot be reached is in error, and is connected again when it is back', async () => {
  const room = mcpRoom()
  const first = await httpServer()
  const { server } = room.open({ url: first.url })
  expect(await say(server, 'call')).toBe('called')
  first.close()
  expect(await failure(server.call('call', {}, callWith()))).toMatch(
    /^The call failed: it could not be reached \([A-Z_]+\)\.$/,
  )
  expect(server.state).toMatchObject({ kind: 'error' })
  expect(await failure(server.start())).toContain('could not be reached')
})

test('[F1] the configured headers are sent, and never shown', async () => {
  const room = mcpRoom()
  const remote = await httpServer({
    call: (response) => response.writeHead(500).end('key my-secret-key refused'),
  })
  const { server } = room.open({ url: remote.url, headers: { authorization: 'Bearer my-secret-key' } })
  const message = await failure(server.call('call', {}, callWith()))
  expect(remote.requests.at(-1)?.authorization).toBe('Bearer my-secret-key')
  expect(message).not.toContain('my-secret-key')
})

test.each(['application/json', 'text/event-stream'])(
  '[F13] S-46: an endless answer of type %s makes the call fail, and the memory stays bounded',
  async (type) => {
    const room = mcpRoom()
    const remote = await httpServer({
      call(response) {
        response.writeHead(200, { 'content-type': type }).write('data: {"jsonrpc":"2.0","result":"')
        const piece = 'x'.repeat(2 ** 20)
        const write = () => {
          while (!response.destroyed && response.write(piece));
          if (!response.destroyed) response.once('drain', write)
        }
        write()
      },
    })
    const before = process.memoryUsage().rss
    const { server } = room.open({ url: remote.url })
    expect(await failure(server.call('call', {}, callWith()))).toBe(
      type === 'application/json'
        ? 'The MCP server sent a message of more than 16777216 bytes.'
        : 'The call failed: it closed the connection without an answer.',
    )
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 2 ** 20)
  },
)

test.each(['end', 'destroy'] as const)(
  '[F13] S-46: a server whose answer to a call breaks off (%s) makes the call fail once',
  async (how) => {
    const room = mcpRoom()
    const remote = await httpServer({
      call(response) {
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .write(': hello\n\n', () => response[how]())
      },
    })
    const { server } = room.open({ url: remote.url })
    expect(await failure(server.call('call', {}, callWith()))).toBe(
      'The call failed: it closed the connection without an answer.',
    )
  },
)

test('[F13] S-46: a server over SSE that is killed during a call makes the call fail', async () => {
  const { url, kill } = await everythingOverHttp('sse')
  const room = mcpRoom()
  const { server } = room.open({ url, type: 'sse' })
  await server.start()
  const call = callWith()
  const running = failure(
    server.call('trigger-long-running-operation', { duration: 1000, steps: 10_000 }, call),
  )
  await until(() => call.reported.length > 0)
  kill()
  expect(await running).toBe('The MCP server ended during the call: the connection broke.')
  expect(server.state).toMatchObject({ kind: 'error' })
})

/** A server that requires a bearer token. Its resource metadata is at the well-known URL, or at the URL that `place` gives. */
const guarded = (tokens: ReadonlySet<string>, place?: (origin: string) => string): HttpOptions => ({
  refuse: ({ authorization = '', method }, origin) => {
    const at = place ? `, resource_metadata="${place(origin)}"` : ''
    if (!tokens.has(authorization)) return { status: 401, challenge: `Bearer error="invalid_token"${at}` }
    const isRefused = method === 'tools/call' && !authorization.includes('wide')
    return isRefused
      ? { status: 403, challenge: `Bearer error="insufficient_scope", scope="files:read files:write"${at}` }
      : undefined
  },
  get: (path, origin) =>
    path === '/.well-known/oauth-protected-resource/mcp' || path === '/metadata'
      ? {
          body: JSON.stringify({
            resource: `${origin}/mcp`,
            authorization_servers: ['https://login.example'],
            scopes_supported: ['files:read'],
          }),
        }
      : undefined,
})

test.each([undefined, (origin: string) => `${origin}/metadata`])(
  '[F11.1] [F11] a server that wants a token is authRequired, with its resource, and ready when there is a token',
  async (place) => {
    const room = mcpRoom()
    const tokens = new Set(['Bearer wide'])
    const remote = await httpServer(guarded(tokens, place))
    let token: string | undefined
    const asked: string[] = []
    const { server, states } = room.open(
      { url: remote.url },
      { token: (resource) => (asked.push(resource), token) },
    )
    await expect(server.start()).rejects.toThrow(McpAuthRequired)
    expect(server.state).toEqual({
      kind: 'authRequired',
      reason: 'required',
      resource: {
        resource: remote.url,
        authorization_servers: ['https://login.example'],
        scopes_supported: ['files:read'],
      },
    })
    token = 'wide'
    expect(await say(server, 'call')).toBe('called')
    expect(states).toEqual(['starting', 'authRequired', 'starting', 'ready'])
    expect(new Set(asked)).toEqual(new Set([remote.url]))
    // The metadata is fetched without the token.
    expect(
      remote.requests.filter(({ path }) => path !== '/mcp').every((each) => each.authorization === undefined),
    ).toBe(true)
    token = 'old'
    await expect(server.call('call', {}, callWith())).rejects.toMatchObject({
      requirement: { reason: 'expired' },
    })
    expect(server.state).toMatchObject({ kind: 'authRequired', reason: 'expired' })
  },
)

test('[F11.2] [F11] a call that lacks a scope rejects with the scopes, and the server stays ready', async () => {
  const room = mcpRoom()
  const remote = await httpServer(guarded(new Set(['Bearer narrow', 'Bearer wide'])))
  let token = 'narrow'
  const { server } = room.open({ url: remote.url }, { token: () => token })
  await server.start()
  await expect(server.call('call', {}, callWith())).rejects.toMatchObject({
    name: 'McpAuthRequired',
    requirement: {
      reason: 'insufficientScope',
      requiredScopes: ['files:read', 'files:write'],
      resource: { resource: remote.url },
    },
  })
  expect(server.state).toEqual({ kind: 'ready' })
  token = 'wide'
  expect(await say(server, 'call')).toBe('called')
})

test('[F11] [S-48] a server that names the resource of another server gets no token', async () => {
  const room = mcpRoom()
  const victim = 'https://victim.example/mcp'
  const asked: string[] = []
  const remote = await httpServer({
    ...guarded(new Set()),
    get: () => ({ body: JSON.stringify({ resource: victim }) }),
  })
  const { server } = room.open({ url: remote.url }, { token: (resource) => (asked.push(resource), 'stolen') })
  expect(await failure(server.start())).toBe(
    'The MCP server names the resource of another server as its own.',
  )
  expect(server.state).toMatchObject({ kind: 'error' })
  expect(asked).toEqual([])
  expect(remote.requests.some(({ authorization }) => authorization?.includes('stolen'))).toBe(false)
})

test('[F11] [S-48] [F11.1] the tokens of two servers do not cross, and no token follows a redirect to another origin', async () => {
  const room = mcpRoom()
  const two = await Promise.all(
    ['a', 'b'].map((name) => httpServer(guarded(new Set([`Bearer wide-${name}`])))),
  )
  const tokens = new Map(two.map(({ url }, i) => [url, `wide-${'ab'[i]}`]))
  for (const { url } of two)
    expect(await say(room.open({ url }, { token: (resource) => tokens.get(resource) }).server, 'call')).toBe(
      'called',
    )
  for (const [i, { requests }] of two.entries())
    expect(
      requests.every(
        ({ authorization }) => authorization === undefined || authorization === `Bearer wide-${'ab'[i]}`,
      ),
    ).toBe(true)
  const other = await httpServer()
  const redirecting = await listen((_, response) => response.writeHead(307, { location: other.url }).end())
  const { server } = room.open({ url: redirecting.url, headers: { authorization: 'Bearer secret' } })
  await failure(server.start())
  expect(other.requests).toEqual([])
})
