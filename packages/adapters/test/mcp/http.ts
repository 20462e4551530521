import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** A request that a server got. */
export interface Seen {
  readonly path: string
  /** The MCP method; empty if there is none. */
  readonly method: string
  readonly authorization: string | undefined
}

export interface HttpOptions {
  /** Returns headers and a status to refuse a request with. */
  readonly refuse?: (seen: Seen, origin: string) => Refusal | undefined
  /** Returns the answer to a GET request of a path. */
  readonly get?: (path: string, origin: string) => Answer | undefined
  /** Writes the result of a call. */
  readonly call?: (response: ServerResponse, id: unknown) => void
}

export interface Refusal {
  readonly status: number
  readonly challenge: string
}

export interface Answer {
  readonly status?: number
  readonly headers?: { readonly [name: string]: string }
  readonly body?: string
}

/** Starts a server of an older MCP version over streamable HTTP, with the tool `call`. */
export async function httpServer({ refuse, get, call }: HttpOptions = {}) {
  const requests: Seen[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { origin } = server
    const { id, method = '', params } = JSON.parse((await bodyOf(request)) || '{}')
    const seen = { path: request.url ?? '', method, authorization: request.headers.authorization }
    requests.push(seen)
    if (request.method === 'GET') {
      const { status = 200, headers = {}, body = '' } = get?.(seen.path, origin) ?? { status: 404 }
      return response.writeHead(status, headers).end(body)
    }
    const refusal = refuse?.(seen, origin)
    if (refusal) return response.writeHead(refusal.status, { 'www-authenticate': refusal.challenge }).end()
    if (request.method !== 'POST' || id === undefined) return response.writeHead(202).end()
    if (method === 'tools/call' && call) return call(response, id)
    const result = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'http', version: '1' },
      },
      'tools/list': { tools: [{ name: 'call', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'called' }] },
    }[String(method)]
    const answer = result ? { result } : { error: { code: -32601, message: 'unknown method' } }
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'session-1' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  }
  const server = await listen((request, response) => void handle(request, response))
  return { ...server, requests }
}

/** Listens on a free port of this machine, until the test is over. */
export async function listen(handler: RequestListener) {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(close)
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  return { origin, url: `${origin}/mcp`, close }
}

/** Listens with a handler that has the types of the Fetch API: `Request` and `Response`. */
export async function listenFetch(handler: (request: Request) => Promise<Response>) {
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET' } = request
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const)
    const body = method === 'POST' ? { body: await bodyOf(request) } : {}
    const answer = await handler(
      new Request(new URL(request.url ?? '', server.origin), {
        method,
        headers: Object.fromEntries(headers),
        ...body,
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    for await (const chunk of answer.body ?? []) response.write(chunk)
    response.end()
  }
  const server = await listen((request, response) => void handle(request, response))
  return server
}

/** Starts server-everything with one of its HTTP transports, on a port that the system chooses. */
export async function everythingOverHttp(transport: 'streamableHttp' | 'sse') {
  const path = '../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js'
  const args = ['--import', `data:text/javascript,${encodeURIComponent(tellsPort)}`]
  const child = spawn(process.execPath, [...args, fileURLToPath(new URL(path, import.meta.url)), transport], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const kill = () => void child.kill('SIGKILL')
  onTestFinished(kill)
  const port = await new Promise<string>((resolve) => {
    let said = ''
    child.stdout.on('data', (bytes: Buffer) => {
      const [, found] = /^port (\d+)\n/m.exec((said += bytes.toString())) ?? []
      if (found !== undefined) resolve(found)
    })
  })
  return { url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`, kill }
}

/** A script that prints the port of each server of its process. The server itself prints only what it was told. */
const tellsPort = `
  import { Server } from 'node:net'
  const { emit } = Server.prototype
  Server.prototype.emit = function (event, ...given) {
    if (event === 'listening') console.log('port ' + this.address().port)
    return emit.call(this, event, ...given)
  }
`

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}
