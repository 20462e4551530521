import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { apis } from './model-apis.ts'
import type { Bag } from './model-apis.ts'
import { script } from './script.ts'

/** The key that it takes. */
export const goodKey = 'sk-good-0123456789abcdef'

interface Asked {
  readonly path: string
  readonly key: string
  readonly body: Bag
  /** Whether whoever asked has hung up before it was answered. */
  left: boolean
}

/** A server that speaks as Anthropic and as OpenAI do, in both of its ways, and has no model but a script. */
export interface ModelServer {
  readonly url: string
  readonly asked: Asked[]
  /** The keys of those who asked which models there are. */
  readonly probes: string[]
  /** Answered before anything else, one after the other. */
  readonly troubles: { readonly status: number; readonly headers?: Record<string, string> }[]
  /** What it says there is. */
  models: readonly unknown[]
  /** Whether a key is needed. */
  open: boolean
}

export async function modelServer(): Promise<ModelServer> {
  const server = createServer((request, response) => {
    answer(state, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const { port } = server.address() as AddressInfo
  const state: ModelServer = {
    url: `http://127.0.0.1:${port}`,
    asked: [],
    probes: [],
    troubles: [],
    models: [],
    open: false,
  }
  return state
}

async function answer(state: ModelServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '').split('?', 1)[0] ?? ''
  const { authorization = '', 'x-api-key': named = '' } = request.headers
  const key = String(named) || authorization.replace('Bearer ', '')
  const body = JSON.parse((await textOf(request)) || '{}') as Bag
  const asked: Asked = { path, key, body, left: false }
  if (path === '/v1/models') state.probes.push(key)
  else state.asked.push(asked)
  response.on('close', () => (asked.left = !response.writableFinished))
  const refuse = (status: number, headers: Record<string, string> = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    // As some do: they say what they did not like.
    response.end(JSON.stringify({ error: { type: 'error', message: `refused ${status} for key ${key}` } }))
  }
  if (!state.open && key !== goodKey) return refuse(401)
  const trouble = state.troubles.shift()
  if (trouble) return refuse(trouble.status, trouble.headers)
  if (path === '/v1/models') return void response.end(JSON.stringify({ data: state.models }))
  const api = apis[path]
  if (!api) return refuse(404)
  const spoken = script(api.heard(body))
  const [first] = spoken
  if (first?.kind === 'fail') return refuse(first.status)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (first?.kind === 'junk') return void response.end('data: {"never": closed\n\nevent: x\ndata: [1,\n\n')
  const odd = spoken.find(({ kind }) => kind === 'hang' || kind === 'break')
  for (const event of api.events(spoken, odd === undefined)) response.write(event)
  // All that was written is on its way first.
  if (odd?.kind === 'break') setImmediate(() => response.destroy())
  else if (!odd) response.end()
}
