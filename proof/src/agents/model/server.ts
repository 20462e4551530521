import { appendFileSync, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { chatCompletions } from './chat-completions.ts'
import { gathered } from './conversation.ts'
import type { Dialect } from './conversation.ts'
import { generateContent } from './generate-content.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'
import { answer, errorStatus, remaining } from './script.ts'

/** A model on the loopback interface that follows a script in the prompt. */
export interface Model {
  readonly url: string
  /** Writes all further requests to this file, one per line, for debugging. */
  record(path: string): void
  close(): void
}

/** Milliseconds between two events of an answer. */
const paceMs = 5

export async function startModel(): Promise<Model> {
  let recorded: string | undefined
  const onRequest = (path: string, body: object): void => {
    // Writes nothing if the folder of the file is gone: it may belong to an agent whose scene has ended.
    if (recorded !== undefined && existsSync(dirname(recorded)))
      appendFileSync(recorded, `${JSON.stringify({ path, body })}\n`)
  }
  const server = createServer((request, response) => {
    serve(request, response, onRequest).catch((error: unknown) => {
      // The script failed or the agent has gone: the answer cannot be completed.
      if (!response.headersSent) response.writeHead(500).end(String(error))
      else response.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  const record = (path: string): void => {
    recorded = path
  }
  return { url: `http://127.0.0.1:${port}`, record, close }
}

interface Body {
  readonly model?: string
  readonly stream?: boolean
}

interface Route {
  readonly ends: RegExp
  readonly dialect: Dialect
  /**
   * Whether the answer is streamed. Absent if the body of the request says this. Only the paths of Gemini say it
   * themselves.
   */
  readonly streams?: boolean
}

const routes: readonly Route[] = [
  { ends: /\/chat\/completions$/, dialect: chatCompletions },
  { ends: /\/responses$/, dialect: responses },
  { ends: /\/messages$/, dialect: messages },
  { ends: /:generateContent$/, dialect: generateContent, streams: false },
  { ends: /:streamGenerateContent$/, dialect: generateContent, streams: true },
]

/** Fixed answers to requests that need no script. */
const fixedAnswers: readonly (readonly [RegExp, object])[] = [
  [/\/messages\/count_tokens$/, { input_tokens: 100 }],
  [/:countTokens$/, { totalTokens: 100 }],
  [
    /\/models$/,
    {
      object: 'list',
      data: [{ id: 'scripted', object: 'model', type: 'model', created: 1, owned_by: 'atrium' }],
      models: [],
      has_more: false,
    },
  ],
]

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  onRequest: (path: string, body: object) => void,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://model')
  let text = ''
  for await (const chunk of request) text += String(chunk)
  const body = (text === '' ? {} : JSON.parse(text)) as Body
  onRequest(pathname, body)
  const fixed = fixedAnswers.find(([ends]) => ends.test(pathname))
  if (fixed) return json(response, 200, fixed[1])
  const route = routes.find(({ ends }) => ends.test(pathname))
  if (!route) return json(response, 404, { error: { message: 'there is nothing here' } })
  await respond(route, body, response)
}

async function respond(route: Route, body: Body, response: ServerResponse): Promise<void> {
  const { dialect, streams = body.stream === true } = route
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const conversation = dialect.read(body as never)
  const status = conversation.tools.length > 0 ? errorStatus(remaining(conversation) ?? []) : undefined
  if (status !== undefined) {
    const message = `the script says ${status}`
    return json(response, status, { type: 'error', error: { type: 'api_error', code: status, message } })
  }
  const pieces = answer(conversation, gone.signal)
  const { model = 'scripted' } = body
  if (!streams) return json(response, 200, dialect.whole(await gathered(pieces), model, body as never))
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for await (const { name, data } of dialect.stream(pieces, model)) {
    if (gone.signal.aborted) return
    const line = typeof data === 'string' ? data : JSON.stringify(data)
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${line}\n\n`)
    await sleep(paceMs)
  }
  response.end()
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
