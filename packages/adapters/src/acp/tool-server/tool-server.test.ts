import { request } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { OfferedTool } from '@atrium/host/ports/agent'
import { expect, onTestFinished, test } from 'vitest'
import type { ServedTools } from './endpoint.ts'
import { ToolServer } from './tool-server.ts'

const tool = (name: string): OfferedTool => ({
  name,
  definition: { name, title: name.toUpperCase(), inputSchema: { properties: { a: {} } } },
  contributor: { kind: 'client', clientId: 'ann' },
  displayName: name,
  asks: false,
})
const served = (...names: readonly string[]): ServedTools => ({
  list: () => names.map(tool),
  call: async (name, input) => ({ content: [{ type: 'text', text: `${name} ${JSON.stringify(input)}` }] }),
})

async function open(...names: readonly string[]) {
  const server = new ToolServer('1')
  onTestFinished(() => server.close())
  const { endpoint, server: given } = await server.endpoint('s c', 'atrium')
  if (!('url' in given)) throw new Error('no URL')
  const end = endpoint.serve(served(...names))
  const [{ value: authorization } = { value: '' }] = given.headers
  return { server, endpoint, end, url: new URL(given.url), authorization }
}
type Opened = Awaited<ReturnType<typeof open>>

/** Sends a request with any headers. */
function send(
  { url }: Opened,
  headers: Record<string, string>,
  body = ping,
  method = 'POST',
): Promise<number> {
  const common = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...common, ...headers } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

test.each(['2026-07-28', '2025-06-18'])(
  '[N50.1] a client of MCP %s lists and calls tools',
  async (version) => {
    const opened = await open('lint', 'open')
    const { url, authorization } = opened
    const versionNegotiation = { mode: version === '2026-07-28' ? { pin: version } : ('legacy' as const) }
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation })
    await client.connect(
      new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } } }),
    )
    onTestFinished(() => client.close())
    const { tools } = await client.listTools()
    expect(tools).toMatchObject([
      { name: 'lint', title: 'LINT', inputSchema: { type: 'object', properties: { a: {} } } },
      { name: 'open' },
    ])
    const result = await client.callTool({ name: 'lint', arguments: { a: 1 } })
    expect(result.content).toEqual([{ type: 'text', text: 'lint {"a":1}' }])
    opened.end()
    expect(await client.callTool({ name: 'lint', arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: 'No turn of this chat is running, so its tools cannot be called.' }],
    })
  },
)

test('[N50.1] [S-04] a request with another Host, with an Origin, or without the token is refused', async () => {
  const opened = await open('lint')
  const { authorization, url } = opened
  const { port } = url
  const other = await opened.server.endpoint('s d', 'atrium')
  const foreign = 'headers' in other.server ? (other.server.headers[0]?.value ?? '') : ''
  expect(await send(opened, { authorization })).toBe(200)
  expect(await send(opened, { authorization, host: `localhost:${port}` })).toBe(200)
  for (const [headers, status] of [
    [{ authorization, host: 'evil.example' }, 421],
    [{ authorization, host: `evil.example:${port}` }, 421],
    [{ authorization, host: '127.0.0.1' }, 421],
    [{ authorization, origin: 'http://evil.example' }, 403],
    [{ authorization, origin: 'null' }, 403],
    [{ authorization, origin: `http://127.0.0.1:${port}` }, 403],
    [{}, 401],
    [{ authorization: 'Bearer ' }, 401],
    [{ authorization: authorization.slice(0, -1) }, 401],
    [{ authorization: `${authorization}x` }, 401],
    [{ authorization: authorization.replace('Bearer', 'Basic') }, 401],
    // The token of another chat.
    [{ authorization: foreign }, 401],
  ] as const)
    expect(await send(opened, headers), JSON.stringify(headers)).toBe(status)
  const elsewhere = { ...opened, url: new URL('/mcp/other', url) }
  expect(await send(elsewhere, { authorization })).toBe(401)
})

test('[N50.1] a request that is too long, or no JSON, is refused, and the server goes on', async () => {
  const opened = await open('lint')
  const { authorization } = opened
  expect(await send(opened, { authorization }, 'x'.repeat(4 * 2 ** 20 + 1))).toBe(413)
  expect(await send(opened, { authorization }, '{')).toBe(400)
  expect(await send(opened, { authorization }, '', 'GET')).toBe(405)
  expect(await send(opened, { authorization })).toBe(200)
})

test('[N50.1] the endpoint of a disposed session is gone, and no port is open without endpoints', async () => {
  const opened = await open('lint')
  opened.server.forget('s ')
  expect(await send(opened, { authorization: opened.authorization })).toBe(401)
  await opened.server.close()
  await expect(send(opened, { authorization: opened.authorization })).rejects.toThrow(
    /ECONNREFUSED|ECONNRESET|hang up/,
  )
})
