import type { IncomingMessage, ServerResponse } from 'node:http'
import { headersFor, pathOf } from './responses.ts'

/** What the host says to a person whom an authorization server has sent back. */
interface Outcome {
  readonly ok: boolean
  readonly text: string
}

/** Takes the parameters with which a browser comes back. */
export type SignedIn = (params: URLSearchParams) => Promise<Outcome>

/** The path to which an authorization server sends a browser back. */
const callbackPath = '/oauth/callback'

/** Whether a request goes to the address to which an authorization server sends the browser after a sign-in. */
export function isCallback(request: IncomingMessage): boolean {
  return request.method === 'GET' && pathOf(request) === callbackPath
}

/**
 * Answers a browser that comes back from an authorization server. The request needs no token of the host: its `state` is known only to
 * the browser that began the sign-in. The answer is a plain text, so nothing in the address can become a part of a page.
 */
export async function answerSignIn(
  signedIn: SignedIn,
  { url = '' }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, query = ''] = url.split('?', 2)
  const { ok, text } = await signedIn(new URLSearchParams(query)).catch(() => ({
    ok: false,
    text: 'The sign-in failed. Begin again.',
  }))
  response.writeHead(ok ? 200 : 400, headersFor(`${text}\n`)).end(`${text}\n`)
}
