import type { FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { McpFailed } from '@atrium/host/ports/mcp'
import { isLoopback } from '../network/address.ts'
import { lostAnswer } from './failure.ts'
import type { Library } from './library.ts'

/** The answer of a server that wants an authorization: `401`, or `403` if the token lacks a scope. */
export class Challenge extends Error {
  /** By this name the library knows that the server wants an authorization. */
  override readonly name = 'UnauthorizedError'
  readonly status: number
  readonly metadataUrl: string | undefined
  readonly scopes: readonly string[] | undefined
  readonly description: string | undefined
  /** Whether the refused request had a token. */
  readonly hadToken: boolean

  constructor(response: Response, hadToken: boolean, { extractWWWAuthenticateParams }: Library) {
    super('the server wants an authorization')
    const { resourceMetadataUrl, scope, errorDescription } = extractWWWAuthenticateParams(response)
    this.status = response.status
    this.metadataUrl = resourceMetadataUrl?.href
    this.scopes = scope?.split(' ').filter(Boolean).slice(0, maxScopes)
    this.description = errorDescription
    this.hadToken = hadToken
  }
}

export interface FetchOptions {
  readonly server: URL
  readonly library: Library
  /** The maximum length of a message, in bytes. */
  readonly maxMessageLength: number
  /** The token for the resource that the server named. Absent: the server has named none, or there is no token. */
  readonly token: () => string | undefined
  readonly onChallenge: (challenge: Challenge) => void
}

/**
 * Returns a `fetch` for one server. It sends nothing to another origin, adds the token, rejects with a `Challenge` if the
 * server wants an authorization, and limits the length of each message.
 */
export function serverFetch(options: FetchOptions): FetchLike {
  const { server, library, token, onChallenge } = options
  return async (input, init) => {
    const url = new URL(input)
    if (url.origin !== server.origin)
      throw new McpFailed('The MCP server named an address of another origin.')
    const headers = new Headers(init?.headers)
    const given = isPrivate(url) ? token() : undefined
    if (given !== undefined) headers.set('authorization', `Bearer ${given}`)
    const response = await fetch(url, { ...init, headers })
    const challenge = challengeOf(response, headers.has('authorization'), library)
    if (!challenge) return limited(response, options.maxMessageLength)
    await response.body?.cancel().catch(() => {})
    onChallenge(challenge)
    throw challenge
  }
}

/**
 * Makes a transport answer a request by an error if the response ends without an answer, for example because the
 * server has died. Without this, the library would wait for the answer for ever.
 */
export function answerLostRequests(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    const isRequest = !Array.isArray(message) && 'method' in message && 'id' in message
    if (!isRequest || options?.onRequestStreamEnd) return send(message, options)
    const error = { code: -32000, message: lostAnswer }
    // If the request was answered before, the library ignores this error answer.
    const onRequestStreamEnd = () => transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error })
    return send(message, { ...options, onRequestStreamEnd })
  }
}

function challengeOf(response: Response, hadToken: boolean, library: Library): Challenge | undefined {
  if (response.status === 401) return new Challenge(response, hadToken, library)
  if (response.status !== 403) return undefined
  const lacksScope = library.extractWWWAuthenticateParams(response).error === 'insufficient_scope'
  return lacksScope ? new Challenge(response, hadToken, library) : undefined
}

/** Whether nobody else can read what is sent to this address. Tokens are sent to such addresses only. */
function isPrivate(url: URL): boolean {
  return url.protocol === 'https:' || isLoopback(url.hostname)
}

/**
 * Returns the response with a body that fails when a message in it is too long. In an event stream, a message ends at
 * an empty line. Any other body is one message.
 */
function limited(response: Response, maxLength: number): Response {
  if (!response.body) return response
  const isEventStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
  let length = 0
  let lineLength = 0
  const count = (bytes: Uint8Array): void => {
    if (!isEventStream) return void (length += bytes.length)
    for (let at = 0; at < bytes.length;) {
      const found = bytes.indexOf(newline, at)
      const end = found < 0 ? bytes.length : found
      // A line that has only a carriage return is empty.
      lineLength += end - at - (found > at && bytes[found - 1] === carriageReturn ? 1 : 0)
      length += end - at
      if (length > maxLength) return
      if (found >= 0 && lineLength === 0) length = 0
      if (found >= 0) lineLength = 0
      at = end + 1
    }
  }
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      count(bytes)
      if (length > maxLength)
        controller.error(new McpFailed(`The MCP server sent a message of more than ${maxLength} bytes.`))
      else controller.enqueue(bytes)
    },
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers })
}

const newline = 10
const carriageReturn = 13
const maxScopes = 100
