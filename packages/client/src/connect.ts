import { checked } from './shared/schemas.ts'
import { Client } from './client.ts'
import type { ClientOptions } from './client.ts'
import { newId, world } from './shared/globals.ts'
import { openSocket } from './link/websocket.ts'
import type { SocketConstructor } from './link/websocket.ts'

export interface ConnectOptions extends Partial<Omit<ClientOptions, 'open'>> {
  /** `ws://…` or `wss://…`. A `?tkn=` in it is sent as it is. */
  readonly url: string
  readonly token?: string
  /** Needed on Node 20, which has no global `WebSocket`: that of the package `ws`. */
  readonly WebSocket?: SocketConstructor
}

/** The protocol versions of this client. Their states and actions are reduced by the same code. */
export const supportedVersions = ['1.0.0', '0.9.0'] as const

/** Returns a client of the host at this URL, already connecting. */
export function connect({ url, token, WebSocket, ...given }: ConnectOptions): Client {
  // The types of this package include neither the DOM nor Node.
  const Socket = WebSocket ?? (globalThis as { WebSocket?: SocketConstructor }).WebSocket
  if (!Socket)
    throw new TypeError(
      'there is no global WebSocket: pass one as an option, for example from the package "ws"',
    )
  const address = withToken(url, token)
  const options = { clientId: newId(), world, check: checked, versions: supportedVersions, ...given }
  return new Client({ ...options, open: () => openSocket(Socket, address) }).connect()
}

function withToken(url: string, token: string | undefined): string {
  if (token === undefined) return url
  return `${url}${url.includes('?') ? '&' : '?'}tkn=${encodeURIComponent(token)}`
}
