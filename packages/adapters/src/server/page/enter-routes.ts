import type { IncomingMessage } from 'node:http'
import { limits } from '@atrium/protocol/limits'
import { reasonOf } from '../devices/pairing.ts'
import type { Entering } from './entering.ts'

/**
 * The answer to a request to enter, which is how a browser gets access to the host: a status, and an object that is
 * sent as JSON.
 */
export interface EnterAnswer {
  readonly status: 200 | 400 | 403 | 409 | 413 | 415
  readonly body: { readonly [key: string]: string }
}

export interface EnterRequest {
  readonly path: string
  readonly request: IncomingMessage
  /** Whether the request has the host's token, or the secret of a device with all rights. */
  readonly trusted: boolean
  /** Whether `Origin` is one of the host's own. */
  readonly ownOrigin: boolean
}

type Fields = { readonly [key: string]: string }
type Route = (entering: Entering, fields: Fields) => Promise<Fields | undefined> | Fields | undefined

/** The requests that a page of the host's own origin may make, by path. */
const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  [
    '/enter/redeem',
    async (entering, { code = '', publicKey = '' }) => {
      const credential = await entering.redeem(code, publicKey)
      return credential === undefined ? undefined : { credential }
    },
  ],
  [
    '/enter/challenge',
    (entering) => ({ challenge: entering.challenge(), code: entering.codeNeeded ? 'needed' : 'not needed' }),
  ],
  [
    '/enter/ticket',
    async (entering, { credential = '', challenge = '', signature = '' }) => {
      const ticket = await entering.ticket({ credential, challenge, signature })
      return ticket === undefined ? undefined : { ticket }
    },
  ],
])

/** The path where a program with all rights gets a new code, for a link that a person opens. */
const codePath = '/enter/code'

export const enterPaths: readonly string[] = [...routes.keys(), codePath]

/**
 * Answers a request to enter (S-45). A page of another origin cannot make such a request: because of the content type
 * and the header `x-atrium` the browser first asks the host for permission (CORS), which the host never gives.
 * Besides, `Origin` must be the host's own.
 */
export async function enterAnswer(entering: Entering, asked: EnterRequest): Promise<EnterAnswer> {
  // An error of the host is its reason to let no further browser in. Only a right code or token gets so far.
  return answerTo(entering, asked).catch((error: unknown) => refused(409, reasonOf(error)))
}

async function answerTo(
  entering: Entering,
  { path, request, trusted, ownOrigin }: EnterRequest,
): Promise<EnterAnswer> {
  const { headers } = request
  if (!/^application\/json\b/.test(headers['content-type'] ?? '') || headers['x-atrium'] !== 'enter')
    return refused(415, 'Send JSON, with the header "x-atrium: enter".')
  if (path === codePath) return trusted ? { status: 200, body: { code: entering.issueCode() } } : forbidden
  if (!ownOrigin) return forbidden
  const text = await bodyOf(request)
  if (text === undefined) return refused(413, `The request has more than ${limits.enterBytes} bytes.`)
  const fields = fieldsOf(text)
  if (!fields) return refused(400, 'The request is not a JSON object of strings.')
  const body = await routes.get(path)?.(entering, fields)
  return body ? { status: 200, body } : forbidden
}

/** The response to a wrong code, key or signature. It is the same for all three, so nobody learns which was wrong. */
const forbidden: EnterAnswer = refused(
  403,
  'The host does not let this browser in. Open a new link: atrium web',
)

function refused(status: EnterAnswer['status'], problem: string): EnterAnswer {
  return { status, body: { problem } }
}

/** Returns the body of a request. Returns undefined if the body is too long, without reading the rest. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  // Without an encoding, a request yields buffers: hence the cast.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > limits.enterBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function fieldsOf(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const entries: readonly (readonly [string, unknown])[] = Object.entries(value)
    const strings = entries.flatMap(([key, each]) => (typeof each === 'string' ? [[key, each] as const] : []))
    return strings.length === entries.length ? Object.fromEntries(strings) : undefined
  } catch {
    return undefined
  }
}
