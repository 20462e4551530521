import { BlockList, isIP } from 'node:net'

/** Where a host listens. A blank host is the default: this machine alone. */
export interface Address {
  readonly host?: string | undefined
  /** 0 is any. */
  readonly port?: number | undefined
  /** The path of a unix socket, in place of host and port. */
  readonly socket?: string | undefined
}

/** The certificate and its key, as PEM. */
export interface Secure {
  readonly cert: string | Buffer
  readonly key: string | Buffer
}

/** What keeps a host from listening, as a sentence with the way out. */
export class ListenRefused extends Error {
  override readonly name = 'ListenRefused'
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** The hosts to bind. `localhost` is both families, because clients resolve it to either. */
export function hostsOf({ host = '' }: Address): readonly string[] {
  const bare = host.trim().replace(/^\[(.*)\]$/, '$1')
  return bare === '' || bare === 'localhost' ? ['127.0.0.1', '::1'] : [bare]
}

/** Only an address that is written out counts as this machine: a name may mean anything tomorrow. */
function staysHere(host: string): boolean {
  const family = isIP(host)
  return family !== 0 && loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

/** S-01: no choice of options gives the network a host without TLS, or anybody there a host without a token. */
export function exposureProblem(address: Address, secure: boolean, token: boolean): string | undefined {
  if (address.socket !== undefined) return undefined
  const [away] = hostsOf(address).filter((host) => !staysHere(host))
  if (away === undefined) return undefined
  if (!token) return `${away} is open to the network and needs a token; leave out --without-connection-token.`
  if (!secure)
    return `${away} is open to the network and needs TLS; give --tls-cert and --tls-key, or leave out --host.`
  return undefined
}

/** What `Host` may say: our addresses with our port, and configured names with theirs, ours or none. */
export function namesOf(
  address: Address,
  port: number,
  secure: boolean,
  more: readonly string[],
): Set<string> {
  if (address.socket !== undefined) return new Set(['localhost', ...more])
  const bound = hostsOf(address).filter((host) => host !== '0.0.0.0' && host !== '::')
  const ours = ['localhost', '127.0.0.1', '[::1]', ...bound.map(bracketed)]
  const named = more.filter((name) => !/:\d+$/.test(name))
  const withPort = [...ours, ...named].map((name) => `${name}:${port}`)
  // A port that is the scheme's own is not written.
  const portless = port === (secure ? 443 : 80) ? ours : []
  return new Set([...withPort, ...portless, ...more])
}

/** An address as it stands in a URL. */
export function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host
}
