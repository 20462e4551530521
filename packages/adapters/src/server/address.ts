import { BlockList, isIP } from 'node:net'

/** The address of a host. A blank host name means the loopback addresses of this machine. */
export interface Address {
  readonly host?: string | undefined
  /** 0 lets the system choose a free port. */
  readonly port?: number | undefined
  /** The path of a unix socket; replaces host and port. */
  readonly socket?: string | undefined
}

/** A TLS certificate and its key, in PEM form. */
export interface TlsCertificate {
  readonly cert: string | Buffer
  readonly key: string | Buffer
}

/** Thrown when the host refuses to listen. The message says why, and what to change. */
export class ListenRefused extends Error {
  override readonly name = 'ListenRefused'
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Returns the addresses to bind. `localhost` stands for an IPv4 and an IPv6 address, because clients resolve it to
 * either of them.
 */
export function hostsOf({ host = '' }: Address): readonly string[] {
  const bare = host.trim().replace(/^\[(.*)\]$/, '$1')
  return bare === '' || bare === 'localhost' ? ['127.0.0.1', '::1'] : [bare]
}

/**
 * Whether a host is a loopback address. A name never counts as one, because it may resolve to another address
 * tomorrow.
 */
function isLoopback(host: string): boolean {
  const family = isIP(host)
  return family !== 0 && loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

/**
 * Returns why the host must not listen on an address, or undefined. An address that other machines can reach needs a
 * token and TLS (S-01).
 */
export function exposureProblem(address: Address, secure: boolean, token: boolean): string | undefined {
  if (address.socket !== undefined) return undefined
  const [exposed] = hostsOf(address).filter((host) => !isLoopback(host))
  if (exposed === undefined) return undefined
  if (!token)
    return `${exposed} is open to the network and needs a token; leave out --without-connection-token.`
  if (!secure)
    return `${exposed} is open to the network and needs TLS; give --tls-cert and --tls-key, or leave out --host.`
  return undefined
}

/**
 * Returns the accepted values of the `Host` header. The server's own addresses are accepted with its port. A
 * configured name (one of `more`) is accepted as it was given; if it was given without a port, it is also accepted
 * with the port of the server.
 */
export function namesOf(
  address: Address,
  port: number,
  secure: boolean,
  more: readonly string[],
): Set<string> {
  if (address.socket !== undefined) return new Set(['localhost', ...more])
  const bound = hostsOf(address).filter((host) => host !== '0.0.0.0' && host !== '::')
  const own = ['localhost', '127.0.0.1', '[::1]', ...bound.map(bracketed)]
  const named = more.filter((name) => !/:\d+$/.test(name))
  const withPort = [...own, ...named].map((name) => `${name}:${port}`)
  // Clients leave the port out if it is the default of the scheme.
  const portless = port === (secure ? 443 : 80) ? own : []
  return new Set([...withPort, ...portless, ...more])
}

/** Returns an address in the form of a URL: IPv6 addresses get brackets. */
export function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host
}
