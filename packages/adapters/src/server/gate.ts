import { createHash, timingSafeEqual } from 'node:crypto'

/** Who may come in, decided from the head of a request before any byte of the protocol. */
export interface Gate {
  /** Values of `Host` that are us, exactly as they are written. */
  readonly hosts: ReadonlySet<string>
  /** The origins of our own pages. */
  readonly own: ReadonlySet<string>
  /** Origins of others that may come in with a token. */
  readonly allowed: ReadonlySet<string>
  /** The SHA-256 of the token; nothing when the host runs without one. */
  readonly token: Buffer | undefined
}

/** The head of an HTTP request: its target, and its headers as they came (name, value, name, value, …). */
export interface Knock {
  readonly target: string
  readonly headers: readonly string[]
}

/** Why somebody stays outside. It is for the log: outside, all refusals with one status look alike. */
export interface Refusal {
  readonly status: 403 | 421
  readonly why: 'host' | 'origin' | 'token'
}

/** Offered as `Sec-WebSocket-Protocol: atrium, atrium.token.<token>` by clients that can set no other header. */
const tokenProtocol = 'atrium.token.'

/** Nothing when the request may become a link. */
export function judgeUpgrade(gate: Gate, knock: Knock): Refusal | undefined {
  // The token is compared whatever else is wrong, so that the answer takes no less time.
  const trusted = gate.token !== undefined && presents(gate.token, knock)
  const host = judgeHost(gate, knock)
  if (host) return host
  if (gate.token !== undefined && !trusted) return { status: 403, why: 'token' }
  const origins = valuesOf(knock, 'origin')
  const [origin] = origins
  if (origin === undefined) return undefined
  const welcome = gate.own.has(origin) || (trusted && gate.allowed.has(origin))
  return welcome && origins.length === 1 ? undefined : { status: 403, why: 'origin' }
}

/** Every request is judged so, whatever it asks for: a page that rebinds its name to us says that name here. */
export function judgeHost({ hosts }: Gate, knock: Knock): Refusal | undefined {
  const [host, second] = valuesOf(knock, 'host')
  const known = host !== undefined && second === undefined && hosts.has(host)
  return known && hosts.has(authorityOf(knock.target) ?? host) ? undefined : { status: 421, why: 'host' }
}

/** Which of the offered protocols is said back: never the one with the secret. */
export function protocolFor(offered: Iterable<string>): string | false {
  for (const protocol of offered) if (!protocol.startsWith(tokenProtocol)) return protocol
  return false
}

export function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** An origin as browsers write it, or nothing when the text is none. */
export function originOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, host, username, password, pathname, search, hash } = new URL(text)
  const bare = username + password + search + hash === '' && (pathname === '' || pathname === '/')
  return bare && host !== '' ? `${protocol}//${host}` : undefined
}

/** Each place may hold one token, at least one must, and every one that is there must be right. */
function presents(token: Buffer, knock: Knock): boolean {
  const places = [bearers(knock), protocolTokens(knock), queryTokens(knock.target)]
  const all = places.flat()
  const right = all.filter((candidate) => timingSafeEqual(digest(candidate), token)).length
  return all.length > 0 && right === all.length && places.every((place) => place.length <= 1)
}

/** Another scheme stands for a token that is wrong. */
function bearers(knock: Knock): readonly string[] {
  return valuesOf(knock, 'authorization').map((value) =>
    value.slice(0, 7).toLowerCase() === 'bearer ' ? value.slice(7).trim() : '',
  )
}

function protocolTokens(knock: Knock): readonly string[] {
  const entries = valuesOf(knock, 'sec-websocket-protocol').flatMap((value) => value.split(','))
  return entries.flatMap((entry) => {
    const protocol = entry.trim()
    return protocol.startsWith(tokenProtocol) ? [protocol.slice(tokenProtocol.length)] : []
  })
}

function queryTokens(target: string): readonly string[] {
  const start = target.indexOf('?')
  return start < 0 ? [] : new URLSearchParams(target.slice(start + 1)).getAll('tkn')
}

function valuesOf({ headers }: Knock, name: string): readonly string[] {
  return headers.filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === name)
}

/** `GET http://name:port/path` names a host too, and proxies believe it: it must be us. A path names none. */
function authorityOf(target: string): string | undefined {
  if (target.startsWith('/')) return undefined
  const scheme = /^https?:\/\//.exec(target)
  return scheme ? target.slice(scheme[0].length).split(/[/?#]/, 1)[0] : ''
}
