import { get as httpGet } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { isIP } from 'node:net'
import type { World } from '@atrium/host/ports/world'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import { withTimeout } from '../process/timeout.ts'
import { isPublicAddress, publicLookup } from '../network/address.ts'
import type { McpLimits } from './context.ts'

export interface MetadataOptions {
  /** The server that names the metadata. Requests to its own origin are allowed, whatever address it has. */
  readonly server: URL
  readonly limits: McpLimits
  readonly later: World['later']
  /** Resolves host names. Tests give another one. */
  readonly lookup?: ReturnType<typeof publicLookup>
}

/**
 * Fetches a JSON document that a server named (S-47). Except from the server's own origin, it is fetched by https and from
 * public addresses only. Each redirect is checked like the first URL. No credentials are sent. Returns undefined if there is
 * no such document.
 */
export async function fetchMetadata(url: string, options: MetadataOptions): Promise<JsonObject | undefined> {
  const { limits, later } = options
  const abort = new AbortController()
  try {
    const text = withTimeout(later, limits.metadataMs, follow(url, options, abort.signal), () => undefined)
    const value: unknown = JSON.parse((await text) ?? 'null')
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  } finally {
    abort.abort()
  }
}

async function follow(
  first: string,
  options: MetadataOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  let url = new URL(first)
  for (let redirects = 0; redirects <= options.limits.metadataRedirects; redirects++) {
    const response = await request(url, options, signal)
    const { statusCode = 0, headers } = response
    if (statusCode === 200) return read(response, options.limits.metadataBytes)
    response.destroy()
    if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined) return undefined
    url = new URL(headers.location, url)
  }
  return undefined
}

function request(url: URL, { server, lookup = publicLookup() }: MetadataOptions, signal: AbortSignal) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const isOwn = url.origin === server.origin
    const literal = url.hostname.replace(/^\[|\]$/g, '')
    if (url.username !== '' || url.password !== '') throw new Error('a URL with credentials')
    if (!isOwn && url.protocol !== 'https:') throw new Error('only https')
    // A literal address is not looked up, so it is checked here.
    if (!isOwn && isIP(literal) !== 0 && !isPublicAddress(literal)) throw new Error('not public')
    const get = url.protocol === 'https:' ? httpsGet : httpGet
    const headers = { accept: 'application/json' }
    const settings = { headers, signal, agent: false as const, ...(!isOwn && { lookup }) }
    get(url, settings, resolve).on('error', reject)
  })
}

async function read(response: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > maxBytes) return undefined
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}
