import { connect } from 'node:net'
import { WebSocket } from 'ws'

/**
 * The WebSocket of the command. It also reaches a host on a unix socket whose path has characters that a URL encodes, such as
 * a space: `ws` does not decode the path of such a URL.
 */
export class HostSocket extends WebSocket {
  constructor(url: string) {
    const local = localAddress(url)
    if (local) super(local.url, { createConnection: () => connect(local.path) })
    else super(url)
  }
}

/** The parts of a URL like `ws+unix:/run/atrium.sock:/?tkn=…`: the path of the socket, and the URL to request from it. */
export function localAddress(url: string): { readonly path: string; readonly url: string } | undefined {
  const { protocol, pathname, search } = new URL(url)
  if (protocol !== 'ws+unix:') return undefined
  const end = pathname.lastIndexOf(':')
  const path = decodeURIComponent(end < 0 ? pathname : pathname.slice(0, end))
  return { path, url: `ws://localhost${end < 0 ? '/' : pathname.slice(end + 1)}${search}` }
}
