import { createHash, timingSafeEqual } from 'node:crypto'
import type { Device } from '@atrium/protocol/root/device'

/** The rules for incoming requests. They are applied to the request head, before any byte of the protocol is read. */
export interface Gate {
  /** The accepted values of `Host`, compared byte for byte. */
  readonly hosts: ReadonlySet<string>
  /** The origins of the host's own pages. */
  readonly ownOrigins: ReadonlySet<string>
  /** Other origins that are accepted together with a token. */
  readonly allowedOrigins: ReadonlySet<string>
  /** The SHA-256 of the token; undefined if the host runs without one. */
  readonly tokenDigest: Buffer | undefined
  /** The device whose secret has this SHA-256, in hexadecimal. */
  readonly deviceWith: (hash: string) => Device | undefined
  /** Uses up a ticket of the host's page. Returns the device of its browser; undefined if the ticket is not valid. */
  readonly takeTicket?: ((ticket: string) => Device | undefined) | undefined
}

/** The head of an HTTP request: its target, and its headers in the order received (name, value, name, value, …). */
export interface RequestHead {
  readonly target: string
  readonly headers: readonly string[]
}

/**
 * The refusal of a request. `why` is for the log only: to the client, all refusals with the same status are the same.
 */
export interface Refusal {
  readonly status: 403 | 421
  readonly why: 'host' | 'origin' | 'token' | 'ticket' | 'code'
}

/** Browsers cannot set headers of a WebSocket. They send `Sec-WebSocket-Protocol: atrium, atrium.token.<token>`. */
const tokenProtocol = 'atrium.token.'
/** The host's own web page sends a ticket in place of a token, as `atrium.ticket.<ticket>`. */
const ticketProtocol = 'atrium.ticket.'

/**
 * The decision about an upgrade: a refusal, or the device that connects. If there is neither, the request is accepted
 * by its token.
 */
export interface Admission {
  readonly refusal?: Refusal
  readonly device?: Device | undefined
}

/** Decides whether a request may become a WebSocket. A ticket in the request is used up. */
export function admit(gate: Gate, head: RequestHead): Admission {
  // The credential is always looked up, so that the response time does not tell which check failed.
  const credential = credentialOf(gate, head)
  const host = checkHost(gate, head)
  if (host) return { refusal: host }
  const tickets = entriesOf(head, ticketProtocol)
  if (tickets.length > 0) return admitTicket(gate, head, tickets)
  if (gate.tokenDigest !== undefined && credential === undefined)
    return { refusal: { status: 403, why: 'token' } }
  const refusal = checkOrigin(gate, head, credential !== undefined)
  return refusal ? { refusal } : { device: credential === 'token' ? undefined : credential }
}

/** Returns why a request may not become a WebSocket. Returns undefined if it may. */
export function checkUpgrade(gate: Gate, head: RequestHead): Refusal | undefined {
  return admit(gate, head).refusal
}

/** Checks the origin of a request. Origins other than the host's own are accepted only with a credential. */
export function checkOrigin(gate: Gate, head: RequestHead, trusted: boolean): Refusal | undefined {
  const origins = valuesOf(head, 'origin')
  const [origin] = origins
  if (origin === undefined) return undefined
  const accepted = gate.ownOrigins.has(origin) || (trusted && gate.allowedOrigins.has(origin))
  return accepted && origins.length === 1 ? undefined : { status: 403, why: 'origin' }
}

/**
 * Decides about a request with a ticket. A ticket opens one WebSocket, and only for the host's own page (G14). The
 * request must have no token: the host's page never sends both.
 */
function admitTicket(gate: Gate, head: RequestHead, tickets: readonly string[]): Admission {
  const [ticket = ''] = tickets
  const device = gate.takeTicket?.(ticket)
  if (!device || tickets.length > 1 || tokensIn(head).flat().length > 0)
    return { refusal: { status: 403, why: 'ticket' } }
  return hasOwnOrigin(gate, head) ? { device } : { refusal: { status: 403, why: 'origin' } }
}

/** Whether a request has one `Origin`, and it is one of the host's own. */
export function hasOwnOrigin({ ownOrigins }: Gate, head: RequestHead): boolean {
  const [origin = '', ...more] = valuesOf(head, 'origin')
  return more.length === 0 && ownOrigins.has(origin)
}

/** Whether the sender of a request has all rights: the request has the token of the host, or the secret of an `own` device. */
export function isTrusted(gate: Gate, head: RequestHead): boolean {
  const credential = credentialOf(gate, head)
  return credential === 'token' || credential?.role === 'own'
}

/** Checks the `Host` of every request. A page that rebinds its DNS name to this machine sends that name as `Host`. */
export function checkHost({ hosts }: Gate, head: RequestHead): Refusal | undefined {
  const [host, second] = valuesOf(head, 'host')
  const known = host !== undefined && second === undefined && hosts.has(host)
  return known && hosts.has(authorityOf(head.target) ?? host) ? undefined : { status: 421, why: 'host' }
}

/** Returns the offered protocol that the response names: the first one that contains neither a token nor a ticket. */
export function selectProtocol(offered: Iterable<string>): string | false {
  const secret = (protocol: string) =>
    protocol.startsWith(tokenProtocol) || protocol.startsWith(ticketProtocol)
  for (const protocol of offered) if (!secret(protocol)) return protocol
  return false
}

export function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Returns an origin in the form that browsers send; undefined if the text is not an origin. */
export function originOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, host, username, password, pathname, search, hash } = new URL(text)
  const bare = username + password + search + hash === '' && (pathname === '' || pathname === '/')
  return bare && host !== '' ? `${protocol}//${host}` : undefined
}

/**
 * Returns the credential of a request: the token of the host, or the secret of a device. It may be in three parts of
 * the head, at most once in each. There must be at least one, and all must be the same.
 */
function credentialOf(gate: Gate, head: RequestHead): 'token' | Device | undefined {
  const parts = tokensIn(head)
  const [first, ...others] = parts.flat().map(digest)
  const same = others.every((other) => first !== undefined && timingSafeEqual(first, other))
  if (first === undefined || !same || parts.some((part) => part.length > 1)) return undefined
  if (gate.tokenDigest !== undefined && timingSafeEqual(first, gate.tokenDigest)) return 'token'
  // The secrets of devices are random, and are looked up by their hash. The time of a lookup tells nothing about a secret.
  return gate.deviceWith(first.toString('hex'))
}

function tokensIn(head: RequestHead): readonly (readonly string[])[] {
  return [bearerTokens(head), entriesOf(head, tokenProtocol), queryTokens(head.target)]
}

/** Returns the tokens in `Authorization` headers. An authorization with another scheme counts as a wrong token. */
function bearerTokens(head: RequestHead): readonly string[] {
  return valuesOf(head, 'authorization').map((value) =>
    value.slice(0, 7).toLowerCase() === 'bearer ' ? value.slice(7).trim() : '',
  )
}

/** Returns the WebSocket protocols of a request that begin with this prefix, without the prefix. */
function entriesOf(head: RequestHead, prefix: string): readonly string[] {
  const entries = valuesOf(head, 'sec-websocket-protocol').flatMap((value) => value.split(','))
  return entries.flatMap((entry) => {
    const protocol = entry.trim()
    return protocol.startsWith(prefix) ? [protocol.slice(prefix.length)] : []
  })
}

function queryTokens(target: string): readonly string[] {
  const start = target.indexOf('?')
  return start < 0 ? [] : new URLSearchParams(target.slice(start + 1)).getAll('tkn')
}

function valuesOf({ headers }: RequestHead, name: string): readonly string[] {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === name)
}

/** Returns the host of an absolute target (`GET http://name:port/path`), which proxies trust more than `Host`. */
function authorityOf(target: string): string | undefined {
  if (target.startsWith('/')) return undefined
  const scheme = /^https?:\/\//.exec(target)
  return scheme ? target.slice(scheme[0].length).split(/[/?#]/, 1)[0] : ''
}
