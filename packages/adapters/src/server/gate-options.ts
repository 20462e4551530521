import { ListenRefused, namesOf } from './address.ts'
import type { Address, TlsCertificate } from './address.ts'
import type { KnownDevices } from './devices/pairing.ts'
import { digest, originOf } from './gate.ts'
import type { Gate } from './gate.ts'

/** What decides which requests a host accepts. */
export interface GateOptions extends Address {
  /** If undefined, every program that reaches the loopback address of this machine may connect. */
  readonly token: string | undefined
  readonly tls?: TlsCertificate | undefined
  readonly allowOrigins?: readonly string[] | undefined
  readonly allowHosts?: readonly string[] | undefined
  /** The devices that may connect. Absent: only the token is accepted, and the host serves no web page. */
  readonly devices?: KnownDevices | undefined
}

/** The origin of all VS Code windows. It does not tell which extension connects, so it is accepted only with a token. */
const vscodeOrigin = 'vscode-file://vscode-app'

/** Returns the rules for requests to a host that listens on this port. */
export function gateOf(options: GateOptions, port: number, takeTicket: Gate['takeTicket']): Gate {
  const secure = options.tls !== undefined
  const hosts = namesOf(options, port, secure, options.allowHosts ?? [])
  // A name that the user allows may be that of a proxy, which has TLS even if the host has none. So its `https`
  // origin counts as the host's own.
  const addresses = [
    ...[...hosts].map((host) => `${secure ? 'https' : 'http'}://${host}`),
    ...(options.allowHosts ?? []).map((host) => `https://${host}`),
  ]
  const own = addresses.flatMap((address) => originOf(address) ?? [])
  const allowed = [vscodeOrigin, ...(options.allowOrigins ?? [])].map(checkedOrigin)
  return {
    hosts,
    ownOrigins: new Set(own),
    allowedOrigins: new Set(allowed),
    tokenDigest: options.token === undefined ? undefined : digest(options.token),
    deviceWith: (hash) => options.devices?.find(hash),
    takeTicket,
  }
}

function checkedOrigin(text: string): string {
  const origin = originOf(text)
  if (origin !== undefined) return origin
  throw new ListenRefused(`'${text}' is not an origin; write it as https://name:port in --allow-origin.`)
}
