import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface Refusal {
  readonly status: number
  readonly reason: string
}

/**
 * Returns why a request is refused. The `Host` must be this server, because a page can rebind its DNS name to this machine.
 * There must be no `Origin`, because no page has a reason to call (S-04). The token must be right.
 */
export function refusalOf({ headers }: IncomingMessage, port: number, expected: Buffer): Refusal | undefined {
  if (headers.host !== `127.0.0.1:${port}` && headers.host !== `localhost:${port}`)
    return { status: 421, reason: 'this server does not serve that host' }
  if (headers.origin !== undefined) return { status: 403, reason: 'this server does not serve web pages' }
  const [, token = ''] = /^bearer (\S+)$/i.exec(headers.authorization ?? '') ?? []
  return timingSafeEqual(digest(token), expected) ? undefined : { status: 401, reason: 'the token is wrong' }
}

export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Reads the body of a request. Returns undefined if it is too long. */
export async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    // A request without an encoding yields buffers.
    const bytes = chunk as Buffer
    length += bytes.length
    if (length > maxBytes) return undefined
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

interface Received {
  readonly request: IncomingMessage
  readonly body: Buffer
  readonly port: number
}

/**
 * Passes a request to a handler of the Fetch API, and sends its response. The handler's request is aborted when the
 * connection is closed.
 */
export async function forward(
  { request, body, port }: Received,
  handler: (request: Request) => Promise<Response> | undefined,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const { method = 'GET', url = '/' } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const answer = await handler(
    new Request(`http://127.0.0.1:${port}${url}`, {
      method,
      headers: headersOf(request),
      signal: gone.signal,
      ...(hasBody && { body: new Uint8Array(body) }),
    }),
  )
  if (!answer) return void response.writeHead(404).end()
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  // A call may take minutes. The headers show the agent at once that its request is being answered.
  response.flushHeaders()
  const reader = answer.body?.getReader()
  for (let next = await reader?.read(); reader && next && !next.done; next = await reader.read()) {
    if (gone.signal.aborted) return reader.cancel()
    if (!response.write(next.value)) await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
  response.end()
}

function headersOf({ headers }: IncomingMessage): Headers {
  const all = new Headers()
  for (const [name, value] of Object.entries(headers))
    for (const each of [value ?? []].flat()) all.append(name, each)
  return all
}
