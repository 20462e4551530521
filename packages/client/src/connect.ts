import { checked } from './shared/schemas.ts'
import { Client } from './client.ts'
import type { ClientOptions } from './client.ts'
import { newId, world } from './shared/globals.ts'
import { openSocket } from './link/websocket.ts'
import type { SocketConstructor } from './link/websocket.ts'

export interface ConnectOptions extends Partial<Omit<ClientOptions, 'open'>> {
  /** `ws://…` or `wss://…`; a `?tkn=` in it is sent as it is. */
  readonly url: string
  readonly token?: string
  /** On Node 20, which has none of its own: `WebSocket` of the package `ws`. */
  readonly WebSocket?: SocketConstructor
}

/** The versions whose states and actions this client folds without being told apart. */
export const supportedVersions = ['1.0.0', '0.9.0'] as const

/** A client of the host at a URL, connecting already. */
export function connect({ url, token, WebSocket, ...given }: ConnectOptions): Client {
  const Socket = WebSocket ?? (globalThis as { WebSocket?: SocketConstructor }).WebSocket
  if (!Socket) throw new TypeError('there is no WebSocket here: pass one, from the package "ws" for instance')
  const address = withToken(url, token)
  const options = { clientId: newId(), world, check: checked, versions: supportedVersions, ...given }
  return new Client({ ...options, open: () => openSocket(Socket, address) }).connect()
}

function withToken(url: string, token: string | undefined): string {
  if (token === undefined) return url
  return `${url}${url.includes('?') ? '&' : '?'}tkn=${encodeURIComponent(token)}`
}
