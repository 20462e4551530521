import { request as httpRequest } from 'node:http'
import { isIP } from 'node:net'
import { isPublicAddress, publicLookup } from '../network/address.ts'

export type Lookup = ReturnType<typeof publicLookup>

/** The maximum length of an endpoint, in characters. Those of push services have some hundred. */
const maxLength = 2048

/** The body and the headers of a request. */
export interface Message {
  readonly body: Uint8Array
  readonly headers: { readonly [name: string]: string }
}

interface PostOptions {
  readonly signal: AbortSignal
  /** Whether the user has named the origin, so that it may have any address. */
  readonly isAllowed: boolean
  readonly lookup?: Lookup | undefined
}

/**
 * Returns why the host may not send to an address (S-47): it is no address of the web, has a password, does not begin
 * with https, or is not public. An origin that the user has named may use http, and need not be public. The addresses
 * behind a host name are checked when the host connects.
 */
export function endpointProblem(text: string, allowed: readonly string[]): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || text.length > maxLength) return 'this is not an address of the web'
  if (url.username !== '' || url.password !== '') return 'an address with a password is not accepted'
  if (!/^https?:$/.test(url.protocol)) return 'this is not an address of the web'
  if (allowed.includes(url.origin)) return undefined
  const remedy = `unless "notifications" in the config file of the host allows ${url.origin}`
  if (url.protocol !== 'https:') return `the address must begin with https://, ${remedy}`
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(literal) !== 0 && !isPublicAddress(literal))
    return `${url.hostname} is not a public address, ${remedy}`
  return undefined
}

/** Sends a message. Returns the status of the answer, whose body is not read. A redirect is not followed. */
export async function post(url: URL, { body, headers }: Message, options: PostOptions): Promise<number> {
  const { signal, isAllowed, lookup = publicLookup() } = options
  // The module for TLS is loaded by the first request that needs it.
  const request = url.protocol === 'https:' ? (await import('node:https')).request : httpRequest
  return new Promise((resolve, reject) => {
    const settings = {
      method: 'POST',
      headers: { ...headers, 'content-length': String(body.length) },
      signal,
      agent: false as const,
      ...(!isAllowed && { lookup }),
    }
    const sent = request(url, settings, (response) => {
      response.destroy()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
