import { checked } from './shared/schemas.ts'
import { Client } from './client.ts'
import type { ClientOptions } from './client.ts'
import { newId, world } from './shared/globals.ts'
import { firstOpen } from './link/first-open.ts'
import { openSocket } from './link/websocket.ts'
import type { SocketConstructor } from './link/websocket.ts'

export interface ConnectOptions extends Partial<Omit<ClientOptions, 'open'>> {
  /** `ws://…` or `wss://…`. A token in the URL itself (`?tkn=`) is sent unchanged. */
  readonly url?: string | undefined
  /** The addresses of the nodes of one host. The client uses the first one that answers. They replace `url`. */
  readonly urls?: readonly string[] | undefined
  readonly token?: string | undefined
  /** The `WebSocket` class of the package `ws` or `undici`. It is needed on Node 20, which has no global `WebSocket`. */
  readonly WebSocket?: SocketConstructor | undefined
}

/** The protocol versions that this client offers. The same reducers work for the states and actions of all. */
export const supportedVersions = ['1.0.0', '0.10.0', '0.9.0'] as const

/** The longest delay of a client with several addresses: another node may take over at any moment. */
const longestRetryMs = 2_000

/** Returns a client of the host at this URL, or at one of these URLs. The client has already begun to connect. */
export function connect({ url, urls, token, WebSocket, ...given }: ConnectOptions): Client {
  // This package is compiled without the types of the DOM and of Node: hence the cast.
  const Socket = WebSocket ?? (globalThis as { WebSocket?: SocketConstructor }).WebSocket
  if (!Socket)
    throw new TypeError(
      'there is no global WebSocket: pass one as an option, for example from the package "ws"',
    )
  const addresses = (urls ?? (url === undefined ? [] : [url])).map((each) => withToken(each, token))
  const [address] = addresses
  if (address === undefined) throw new TypeError('there is no address: pass url or urls')
  const options = { clientId: newId(), world, check: checked, versions: supportedVersions, ...given }
  const dial = (each: string) => openSocket(Socket, each)
  if (addresses.length === 1) return new Client({ ...options, open: () => dial(address) }).connect()
  const open = firstOpen(addresses, dial, options.world)
  return new Client({ longestRetryMs, ...options, open }).connect()
}

function withToken(url: string, token: string | undefined): string {
  if (token === undefined) return url
  return `${url}${url.includes('?') ? '&' : '?'}tkn=${encodeURIComponent(token)}`
}
