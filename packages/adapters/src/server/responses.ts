import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

export type TextResponse = readonly [status: number, text: string]

/**
 * The health checks, which answer GET and HEAD, by path. The server also answers `/pair` and the paths of the web
 * page.
 */
export const routes: ReadonlyMap<string, (ready: boolean) => TextResponse> = new Map<
  string,
  (ready: boolean) => TextResponse
>([
  ['/healthz', () => [200, 'ok\n']],
  ['/readyz', (ready) => (ready ? [200, 'ready\n'] : [503, 'not ready\n'])],
])

/** Returns the path of a request. An absolute target starts with a host, which the gate has checked. */
export function pathOf({ url = '' }: IncomingMessage): string {
  return url.replace(/^https?:\/\/[^/?#]*/, '').split('?', 1)[0] ?? ''
}

/** Returns the response to a request whose `Host` was accepted. */
export function responseTo(request: IncomingMessage, ready: boolean): TextResponse {
  const { method } = request
  const route = method === 'GET' || method === 'HEAD' ? routes.get(pathOf(request)) : undefined
  return route ? route(ready) : statusResponse(404)
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
