import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

export type TextResponse = readonly [status: number, text: string]

/** Whether the host accepts clients, and the word for it. */
export interface Readiness {
  readonly ready: boolean
  /** `owner` or `standby` at a node that shares its store with others. */
  readonly role?: string | undefined
}

/**
 * The health checks, which answer GET and HEAD, by path. The server also answers `/pair` and the paths of the web
 * page.
 */
export const routes: ReadonlyMap<string, (readiness: Readiness) => TextResponse> = new Map<
  string,
  (readiness: Readiness) => TextResponse
>([
  ['/healthz', () => [200, 'ok\n']],
  [
    '/readyz',
    ({ ready, role = ready ? 'ready' : 'not ready' }) => (ready ? [200, `${role}\n`] : [503, `${role}\n`]),
  ],
])

/** Returns the path of a request. An absolute target starts with a host, which the gate has checked. */
export function pathOf({ url = '' }: IncomingMessage): string {
  return url.replace(/^https?:\/\/[^/?#]*/, '').split('?', 1)[0] ?? ''
}

/** Returns the response to a request whose `Host` was accepted. */
export function responseTo(request: IncomingMessage, readiness: Readiness): TextResponse {
  const { method } = request
  const route = method === 'GET' || method === 'HEAD' ? routes.get(pathOf(request)) : undefined
  return route ? route(readiness) : statusResponse(404)
}

export function headersFor(text: string, type = 'text/plain') {
  return {
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  }
}

/** Returns a response that consists of the status text. */
export function statusResponse(status: number): TextResponse {
  return [status, `${statusTexts[status] ?? ''}\n`]
}

/** Writes a response to a raw socket and destroys the socket, without reading the rest of the request. */
export function refuse(socket: Duplex, status: number, more: { readonly [name: string]: number } = {}): void {
  const [, text] = statusResponse(status)
  const lines = Object.entries({ ...headersFor(text), ...more }).map(([name, value]) => `${name}: ${value}`)
  socket.on('error', () => {})
  if (!socket.writable) return void socket.destroy()
  socket.end([`HTTP/1.1 ${status} ${statusTexts[status] ?? ''}`, ...lines, '', text].join('\r\n'), () =>
    socket.destroy(),
  )
}

const statusTexts: { readonly [status: number]: string } = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Content Too Large',
  421: 'Misdirected Request',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
}
