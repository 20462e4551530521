import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import { onTestFinished } from 'vitest'
import { apis } from './model-apis.ts'
import { nextSteps } from './script.ts'

/** The API key that the server accepts. */
export const goodKey = 'sk-good-0123456789abcdef'

interface ServedRequest {
  readonly path: string
  readonly key: string
  readonly body: JsonObject
  /** Whether the client closed the connection before the response ended. */
  aborted: boolean
}

/** An error response. Without a body it is the JSON of an error that contains the key. */
interface ServedError {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** An HTTP server with the APIs of Anthropic and OpenAI (responses and chat completions). Its model plays scripts. */
export interface ModelServer {
  readonly url: string
  readonly requests: ServedRequest[]
  /** The API keys of the requests for the list of models. */
  readonly listKeys: string[]
  /** Error responses for the next requests, in order. */
  readonly errors: ServedError[]
  /** Entries of the list of models. */
  models: readonly unknown[]
  /** Whether requests without a key are accepted. */
  open: boolean
  /** Further members of the usage in responses of the API of chat completions. */
  usage: JsonObject
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
  // The server listens on a TCP port, so its address is an object.
  const { port } = server.address() as AddressInfo
  const state: ModelServer = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    listKeys: [],
    errors: [],
    models: [],
    open: false,
    usage: {},
  }
  return state
}

async function answer(state: ModelServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '').split('?', 1)[0] ?? ''
  const { authorization = '', 'x-api-key': apiKey = '' } = request.headers
  const key = String(apiKey) || authorization.replace('Bearer ', '')
  const parsed: unknown = JSON.parse((await textOf(request)) || '{}')
  const body = isJsonObject(parsed) ? parsed : {}
  const served: ServedRequest = { path, key, body, aborted: false }
  if (path === '/v1/models') state.listKeys.push(key)
  else state.requests.push(served)
  response.on('close', () => (served.aborted = !response.writableFinished))
  const refuse = (status: number, headers: Record<string, string> = {}, text?: string) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    // The error message contains the key, as the messages of some providers do.
    const error = { type: 'error', message: `refused ${status} for key ${key}` }
    response.end(text ?? JSON.stringify({ error }))
  }
  if (!state.open && key !== goodKey) return refuse(401)
  const error = state.errors.shift()
  if (error) return refuse(error.status, error.headers, error.body)
  if (path === '/v1/models') return void response.end(JSON.stringify({ data: state.models }))
  const api = apis[path]
  if (!api) return refuse(404)
  const steps = nextSteps(api.messages(body))
  const [first] = steps
  if (first?.kind === 'fail') return refuse(first.status)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (first?.kind === 'junk') return void response.end('data: {"never": closed\n\nevent: x\ndata: [1,\n\n')
  const ending = steps.find(({ kind }) => kind === 'hang' || kind === 'break')
  for (const event of api.events(steps, ending === undefined, state.usage)) response.write(event)
  // The connection breaks only after the events that were written are sent.
  if (ending?.kind === 'break') setImmediate(() => response.destroy())
  else if (!ending) response.end()
}
