import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { SignInFailed } from '@atrium/host/ports/authorizer'
import { limits } from '@atrium/protocol/limits'
import { isLoopback, isPublicAddress, publicLookup } from '../../network/address.ts'

/** A `fetch` as the OAuth functions of the library use it. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * Returns a `fetch` for the authorization server of a resource (S-47). The resource names the server, so the host sends requests only
 * by https and to public addresses. Only for a resource on this machine, the server may be on this machine, too. It follows no
 * redirect, because a redirect could lead a code or a token elsewhere.
 */
export function guardedFetch(resource: URL): GuardedFetch {
  return async (input, init = {}) => {
    const url = new URL(input)
    const isLocal = isLoopback(url.hostname) && isLoopback(resource.hostname)
    if (url.username !== '' || url.password !== '') throw refused(url, 'has a user name or a password')
    if (!isLocal && url.protocol !== 'https:') throw refused(url, 'does not begin with https')
    const literal = url.hostname.replace(/^\[|\]$/g, '')
    if (!isLocal && isIP(literal) !== 0 && !isPublicAddress(literal)) throw refused(url, 'is not public')
    const response = await send(url, init, isLocal)
    const { statusCode = 500, headers } = response
    const text = await read(response)
    const given = new Headers()
    for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') given.set(name, value)
    const isEmpty = [204, 205, 304].includes(statusCode)
    return new Response(isEmpty ? null : text, { status: Math.max(200, statusCode), headers: given })
  }
}

function send(url: URL, { method = 'GET', headers, body }: RequestInit, isLocal: boolean) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest
    const text =
      body instanceof URLSearchParams ? body.toString() : typeof body === 'string' ? body : undefined
    const sent = new Headers(headers)
    if (body instanceof URLSearchParams && !sent.has('content-type'))
      sent.set('content-type', 'application/x-www-form-urlencoded')
    const settings = {
      method,
      headers: Object.fromEntries(sent),
      agent: false as const,
      signal: AbortSignal.timeout(limits.metadataMs),
      ...(!isLocal && { lookup: publicLookup() }),
    }
    request(url, settings, resolve).on('error', reject).end(text)
  })
}

async function read(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > limits.metadataBytes)
      throw new SignInFailed('The authorization server sent too long an answer.')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function refused({ origin }: URL, why: string): SignInFailed {
  return new SignInFailed(`The address of the authorization server ${origin} ${why}.`)
}
