import { createServer as createHttp } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket, createSecureContext } from 'node:tls'
import { limits } from '@atrium/protocol/limits'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { WebSocketServer } from 'ws'
import { ListenRefused, exposureProblem, namesOf } from './address.ts'
import type { Address, Secure } from './address.ts'
import { bind } from './bind.ts'
import { Failures, failureLimits } from './auth-failures.ts'
import { digest, judgeHost, judgeUpgrade, originOf, protocolFor } from './gate.ts'
import type { Gate, Knock, Refusal } from './gate.ts'
import { keepAlive } from './heartbeat.ts'
import type { Pulse } from './heartbeat.ts'
import { lobby, lobbyLimits } from './pending-upgrades.ts'
import type { Lobby, LobbyLimits } from './pending-upgrades.ts'
import { socketOptions, websocketTransport } from './websocket-transport.ts'

export interface ListenOptions extends Address {
  /** Nothing: whoever reaches this machine's loopback may come in. */
  readonly token: string | undefined
  readonly tls?: Secure | undefined
  readonly allowOrigins?: readonly string[] | undefined
  readonly allowHosts?: readonly string[] | undefined
  /** `/readyz` answers it, and nobody is let in before. */
  readonly ready?: (() => boolean) | undefined
  readonly limits?: LobbyLimits | undefined
  /** Milliseconds that only grow. */
  readonly now?: (() => number) | undefined
  /** How often a quiet peer is pinged, and when it counts as gone. */
  readonly pulse?: Pulse | undefined
  /** Somebody was let in: from now on the link is yours, and yours to close. */
  readonly connect: (transport: Transport, principal: string) => void
  readonly report?: (event: string, detail?: unknown) => void
}

export interface Listening {
  /** The first of `urls`. */
  readonly url: string
  readonly urls: readonly string[]
  /** 0 on a unix socket. */
  readonly port: number
  /** Lets nobody in any more; resolves when the last link has ended. */
  close(): Promise<void>
}

/** VS Code's windows. Their origin says nothing about who is inside, so it counts only with a token. */
const vscodeOrigin = 'vscode-file://vscode-app'

/** One HTTP server: links through the gate on any path, two small routes, nothing else. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const secure = options.tls !== undefined
  const problem = exposureProblem(options, secure, options.token !== undefined)
  if (problem !== undefined) throw new ListenRefused(problem)
  const waiting = lobby(options.limits ?? lobbyLimits)
  const wrap = wrapping(options.tls)
  // Sockets reach the HTTP server by hand, so that one lobby sees them before TLS does.
  let http: Server | undefined = undefined
  const accept = (socket: Socket): void => {
    socket.on('error', () => {})
    // One address is bound before the other, and the gate needs the port of both.
    if (!http) return void socket.destroy()
    const seen = wrap(socket)
    waiting.enter(socket, seen)
    http.emit('connection', seen)
  }
  const bound = await bind(options, accept)
  http = serve(gateOf(options, bound.port), waiting, options)
  const scheme = secure ? 'wss' : 'ws'
  const urls = bound.names.map((name) => (bound.port === 0 ? `ws+unix:${name}:/` : `${scheme}://${name}/`))
  return {
    url: urls[0] ?? '',
    urls,
    port: bound.port,
    close() {
      const closed = bound.close()
      waiting.clear()
      return closed
    },
  }
}

function gateOf(options: ListenOptions, port: number): Gate {
  const secure = options.tls !== undefined
  const hosts = namesOf(options, port, secure, options.allowHosts ?? [])
  const own = [...hosts].flatMap((host) => originOf(`${secure ? 'https' : 'http'}://${host}`) ?? [])
  const allowed = [vscodeOrigin, ...(options.allowOrigins ?? [])].map(checkedOrigin)
  const token = options.token === undefined ? undefined : digest(options.token)
  return { hosts, own: new Set(own), allowed: new Set(allowed), token }
}

function checkedOrigin(text: string): string {
  const origin = originOf(text)
  if (origin !== undefined) return origin
  throw new ListenRefused(`'${text}' is no origin; write it as https://name:port in --allow-origin.`)
}

function serve(gate: Gate, waiting: Lobby, options: ListenOptions): Server {
  const { ready = () => true, connect, report, pulse, now = () => performance.now() } = options
  const failures = new Failures(failureLimits, now)
  const strays = new Failures(failureLimits, now)
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    handleProtocols: protocolFor,
    ...socketOptions,
  })
  /** Counted, and written down unless there are too many: a log can be flooded too. Gives how long to stay away. */
  const refused = ({ why }: Refusal, { headers, socket }: IncomingMessage, among: Failures): number => {
    const address = socket.remoteAddress ?? 'unix socket'
    const { wait, news } = among.add(address)
    if (wait === 0) report?.('refused', why === 'origin' ? { why, origin: headers.origin } : { why })
    if (news) report?.('too many failures', { address, seconds: secondsOf(wait) })
    return wait
  }

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const refusal = judgeHost(gate, knockOf(request))
    if (refusal) refused(refusal, request, strays)
    const [status, text] = refusal ? said(refusal.status) : answerTo(request, ready())
    // One request a socket: nothing can hide behind the first, and Node destroys it when the answer is out.
    response.writeHead(status, headFor(text)).end(text)
  }

  // A right token with a wrong origin counts like a wrong one: else the answers would tell them apart (S-06).
  const forbid = (refusal: Refusal, request: IncomingMessage, socket: Duplex): void => {
    const wait = refused(refusal, request, failures)
    if (wait === 0) refuse(socket, 403)
    else refuse(socket, 429, { 'retry-after': secondsOf(wait) })
  }

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const refusal = judgeUpgrade(gate, knockOf(request))
    if (refusal?.status === 403) return forbid(refusal, request, socket)
    if (refusal) refused(refusal, request, strays)
    if (refusal) return refuse(socket, refusal.status)
    if (!ready()) return refuse(socket, 503)
    sockets.handleUpgrade(request, socket, head, (link) => {
      waiting.leave(socket)
      keepAlive(link, socket as Socket, pulse)
      connect(websocketTransport(link, socket), 'owner')
    })
  }

  const http = createHttp({
    // Node refuses what reaches it, not what exceeds it.
    maxHeaderSize: limits.headBytes + 1,
    headersTimeout: lobbyLimits.patience,
    requestTimeout: lobbyLimits.patience,
    // A missing one shall meet our own answer.
    requireHostHeader: false,
  })
  // Without the two in the middle Node answers by itself, before the host was judged.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) http.on(event, answer)
  http.on('upgrade', upgrade)
  http.on('connect', (_request, socket: Duplex) => refuse(socket, 421))
  http.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Duplex) => {
    // What is no HTTP at all, a failed TLS handshake for one, gets nothing.
    if (!code.startsWith('HPE_')) return void socket.destroy()
    refuse(socket, code === 'HPE_HEADER_OVERFLOW' ? 431 : 400)
  })
  return http
}

type Answer = readonly [status: number, text: string]

/** Every route there is. */
export const routes: ReadonlyMap<string, (ready: boolean) => Answer> = new Map<
  string,
  (ready: boolean) => Answer
>([
  ['/healthz', () => [200, 'ok\n']],
  ['/readyz', (ready) => (ready ? [200, 'ready\n'] : [503, 'not ready\n'])],
])

function answerTo({ method, url = '' }: IncomingMessage, ready: boolean): Answer {
  // A target may be written with its host, which the gate has judged.
  const [path = ''] = url.replace(/^https?:\/\/[^/?#]*/, '').split('?', 1)
  const route = method === 'GET' || method === 'HEAD' ? routes.get(path) : undefined
  return route ? route(ready) : said(404)
}

function headFor(text: string) {
  return {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': text.length,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  }
}

const texts: { readonly [status: number]: string } = {
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  421: 'Misdirected Request',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
}

function said(status: number): Answer {
  return [status, `${texts[status] ?? ''}\n`]
}

/** Says one thing and is gone, whatever the other side still has to say. */
function refuse(socket: Duplex, status: number, more: { readonly [name: string]: number } = {}): void {
  const [, text] = said(status)
  const lines = Object.entries({ ...headFor(text), ...more }).map(([name, value]) => `${name}: ${value}`)
  socket.on('error', () => {})
  if (!socket.writable) return void socket.destroy()
  socket.end([`HTTP/1.1 ${status} ${texts[status] ?? ''}`, ...lines, '', text].join('\r\n'), () =>
    socket.destroy(),
  )
}

function secondsOf(ms: number): number {
  return Math.ceil(ms / 1000)
}

function knockOf({ url = '', rawHeaders }: IncomingMessage): Knock {
  return { target: url, headers: rawHeaders }
}

/** What HTTP sees of a socket: itself, or what TLS makes of it. There is no plain text on a TLS port (S-13). */
function wrapping(tls: Secure | undefined): (socket: Socket) => Socket {
  if (!tls) return (socket) => socket
  const secureContext = createSecureContext({ cert: tls.cert, key: tls.key, minVersion: 'TLSv1.2' })
  return (socket) => new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
}
