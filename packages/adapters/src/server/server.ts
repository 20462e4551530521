import { createServer as createHttp } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket, createSecureContext } from 'node:tls'
import { pathToFileURL } from 'node:url'
import { limits } from '@atrium/protocol/limits'
import type { Device } from '@atrium/protocol/root/device'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { WebSocketServer } from 'ws'
import { ListenRefused, exposureProblem } from './address.ts'
import type { TlsCertificate } from './address.ts'
import { bind } from './bind.ts'
import { AuthFailures, failureLimits } from './auth-failures.ts'
import { admit, checkHost, checkOrigin, hasOwnOrigin, isTrusted, selectProtocol } from './gate.ts'
import type { Gate, Refusal, RequestHead } from './gate.ts'
import { gateOf } from './gate-options.ts'
import type { GateOptions } from './gate-options.ts'
import { keepAlive } from './heartbeat.ts'
import type { HeartbeatOptions } from './heartbeat.ts'
import { pairingPath, redeemCode } from './devices/pairing.ts'
import type { KnownDevices } from './devices/pairing.ts'
import { PendingUpgrades, pendingUpgradeLimits } from './pending-upgrades.ts'
import type { PendingUpgradeLimits } from './pending-upgrades.ts'
import { Page } from './page/page.ts'
import type { PageOptions } from './page/page.ts'
import { PageSockets, pageSocketLimits } from './page/page-sockets.ts'
import type { PageSocketLimits } from './page/page-sockets.ts'
import { answerSignIn, isCallback } from './sign-in-callback.ts'
import type { SignedIn } from './sign-in-callback.ts'
import { headersFor, pathOf, refuse, responseTo, routes, statusResponse } from './responses.ts'
import { socketOptions, websocketTransport } from './websocket-transport.ts'

export type { PageOptions }

export interface ListenOptions extends GateOptions {
  /** The answer of `/readyz`. No client is accepted while it is false. */
  readonly ready?: (() => boolean) | undefined
  /**
   * The text of `/readyz`, at a node that shares its store with others. While such a node is not ready, it does not know the
   * devices, so it answers every credential with 503.
   */
  readonly role?: (() => string) | undefined
  /** The reason why `/readyz` answers 503 at a node whose clients are still accepted; undefined if there is none. */
  readonly trouble?: (() => string | undefined) | undefined
  /** The text of `/metrics`. Absent: there is no such path. */
  readonly metrics?: (() => string) | undefined
  readonly limits?: PendingUpgradeLimits | undefined
  /** Takes what a browser brings back from an authorization server. */
  readonly signedIn?: SignedIn | undefined
  /** The web page. If undefined, the host serves none. */
  readonly page?: PageOptions | undefined
  readonly pageLimits?: PageSocketLimits | undefined
  /** A monotonic clock, in milliseconds. */
  readonly now?: (() => number) | undefined
  readonly heartbeat?: HeartbeatOptions | undefined
  /** Called with each accepted connection, which the callee has to close. */
  readonly connect: (transport: Transport, principal: string, device?: Device) => void
  readonly report?: (event: string, detail?: unknown) => void
}

export interface Listening {
  /** The first of `urls`. */
  readonly url: string
  readonly urls: readonly string[]
  /** 0 on a unix socket. */
  readonly port: number
  /** The address of the web page. Undefined if the host has no page, or listens on a unix socket. */
  readonly pageUrl: string | undefined
  /** Returns the address of the web page. If the host has a token, the address has a new code, which lets one browser in. */
  readonly pageLink: () => string | undefined
  /** Accepts no more clients; resolves when the last connection has ended. */
  close(): Promise<void>
}

/**
 * Starts the HTTP server. It answers `/healthz`, `/readyz` and, with `devices`, `/pair`. With `page`, it answers every other path
 * with a file of the page, or lets a browser enter. On any path it accepts a WebSocket that passes the gate.
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const secure = options.tls !== undefined
  const problem = exposureProblem(options, secure, options.token !== undefined)
  if (problem !== undefined) throw new ListenRefused(problem)
  const pending = new PendingUpgrades(options.limits ?? pendingUpgradeLimits)
  const streamOf = tlsWrapper(options.tls)
  // Sockets are passed to the HTTP server by hand, so that they are counted before the TLS handshake.
  let http: Server | undefined = undefined
  const accept = (socket: Socket): void => {
    socket.on('error', () => {})
    // The first address accepts sockets before the second one is bound. They are dropped, because the gate needs the port.
    if (!http) return void socket.destroy()
    const stream = streamOf(socket)
    pending.add(socket, stream)
    http.emit('connection', stream)
  }
  const bound = await bind(options, accept)
  const page = pageOf(options)
  const pageSockets = new PageSockets(options.pageLimits ?? pageSocketLimits)
  http = serve(
    { gate: gateOf(options, bound.port, page?.entering.takeTicket), pending, page, pageSockets },
    options,
  )
  const scheme = secure ? 'wss' : 'ws'
  const urls = bound.names.map((name) =>
    bound.port === 0 ? `ws+unix:${pathToFileURL(name).pathname}:/` : `${scheme}://${name}/`,
  )
  const pageUrl = page && bound.port !== 0 ? urls[0]?.replace(/^ws/, 'http') : undefined
  return {
    url: urls[0] ?? '',
    urls,
    port: bound.port,
    pageUrl,
    pageLink: () =>
      !page || pageUrl === undefined || options.token === undefined
        ? pageUrl
        : `${pageUrl}#code=${page.entering.issueCode()}`,
    close() {
      const closed = bound.close()
      pending.destroyAll()
      pageSockets.destroyAll()
      return closed
    },
  }
}

/** Returns the page of the host. A browser becomes a device, so a host without devices has no page. */
function pageOf({
  page,
  devices,
  tls,
  token,
  now = () => performance.now(),
}: ListenOptions): Page | undefined {
  if (!page || !devices) return undefined
  return new Page({ ...page, devices, secure: tls !== undefined, codeNeeded: token !== undefined, now })
}

interface Parts {
  readonly gate: Gate
  readonly pending: PendingUpgrades
  readonly page: Page | undefined
  readonly pageSockets: PageSockets
}

function serve({ gate, pending, page, pageSockets }: Parts, options: ListenOptions): Server {
  const { ready = () => true, role, trouble, connect, report, heartbeat } = options
  const { now = () => performance.now() } = options
  const authFailures = new AuthFailures(failureLimits, now)
  const misdirected = new AuthFailures(failureLimits, now)
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    handleProtocols: selectProtocol,
    ...socketOptions,
  })
  /**
   * Counts a refusal. Returns how long (in ms) the client must wait; 0 while its refusals are within the limits. Refusals past
   * the limits are not logged one by one, so that no client can flood the log.
   */
  const recordRefusal = ({ why }: Refusal, { headers, socket }: IncomingMessage, failures: AuthFailures) => {
    const address = socket.remoteAddress ?? 'unix socket'
    const { waitMs, limitReached } = failures.record(address)
    if (waitMs === 0) report?.('refused', why === 'origin' ? { why, origin: headers.origin } : { why })
    if (limitReached) report?.('too many failures', { address, seconds: secondsOf(waitMs) })
    return waitMs
  }

  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    const refusal = checkHost(gate, headOf(request))
    if (!refusal && options.metrics && request.method === 'GET' && pathOf(request) === '/metrics')
      return tell(options.metrics, request, response)
    if (refusal) recordRefusal(refusal, request, misdirected)
    else if (options.signedIn && isCallback(request))
      return void answerSignIn(options.signedIn, request, response)
    else if (options.devices && request.method === 'POST' && pathOf(request) === pairingPath)
      return void pair(options.devices, request, response)
    else if (page && !routes.has(pathOf(request))) return void answerByPage(page, request, response)
    const problem = trouble?.()
    const [status, text] = refusal
      ? statusResponse(refusal.status)
      : responseTo(request, { ready: ready() && problem === undefined, role: problem ?? role?.() })
    // `connection: close`: a socket carries one request, so no second one can be smuggled in behind it.
    response.writeHead(status, headersFor(text)).end(text)
  }

  /** Answers with the metrics, which need the token of the host, if it has one. A wrong token counts as a failed attempt. */
  const tell = (metrics: () => string, request: IncomingMessage, response: ServerResponse) => {
    const open = options.token === undefined || isTrusted(gate, headOf(request))
    const waitMs = open ? 0 : recordRefusal({ status: 403, why: 'token' }, request, authFailures)
    const [status, text] = open ? [200, metrics()] : statusResponse(waitMs > 0 ? 429 : 403)
    response.writeHead(status, headersFor(text)).end(text)
  }

  /** Answers a request to pair. A wrong code counts like a wrong token, so that nobody can guess codes. */
  const pair = async (devices: KnownDevices, request: IncomingMessage, response: ServerResponse) => {
    const foreign = checkOrigin(gate, headOf(request), false)
    const outcome = foreign ?? (await redeemCode(request, devices).catch(() => ({ status: 400 as const })))
    if ('token' in outcome) {
      const text = `${JSON.stringify(outcome)}\n`
      return void response.writeHead(200, headersFor(text, 'application/json')).end(text)
    }
    const failed = foreign ?? (outcome.status === 403 ? ({ status: 403, why: 'code' } as const) : undefined)
    const waitMs = failed ? recordRefusal(failed, request, authFailures) : 0
    const [status, text] =
      'problem' in outcome ? [409, `${outcome.problem}\n`] : statusResponse(waitMs > 0 ? 429 : outcome.status)
    if (waitMs > 0) response.setHeader('retry-after', secondsOf(waitMs))
    response.writeHead(status, headersFor(text)).end(text)
  }

  /**
   * Answers with a file of the page, or lets a browser enter. Until the answer is sent, the time limit of pending
   * upgrades does not apply to the socket.
   */
  const answerByPage = async (page: Page, request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    if (!pageSockets.add(socket)) {
      const [status, text] = statusResponse(503)
      return void response.writeHead(status, { ...headersFor(text), 'retry-after': '1' }).end(text)
    }
    const resume = pending.suspend(socket)
    response.once('close', () => {
      pageSockets.remove(socket)
      resume()
    })
    const head = headOf(request)
    const asker = {
      path: pathOf(request),
      trusted: isTrusted(gate, head),
      ownOrigin: hasOwnOrigin(gate, head),
      refused: () => secondsOf(recordRefusal({ status: 403, why: 'code' }, request, authFailures)),
    }
    try {
      await page.answer(request, response, asker)
    } catch (error) {
      report?.('page failed', { problem: error instanceof Error ? error.message : String(error) })
      socket.destroy()
    }
  }

  // A right token with a wrong origin counts as a failure too. Otherwise the response would tell that the token is right
  // (S-06).
  const forbid = (refusal: Refusal, request: IncomingMessage, socket: Duplex): void => {
    const waitMs = recordRefusal(refusal, request, authFailures)
    if (waitMs === 0) refuse(socket, 403)
    else refuse(socket, 429, { 'retry-after': secondsOf(waitMs) })
  }

  const upgrade = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    const { refusal, device } = admit(gate, headOf(request))
    if (refusal?.status === 403 && role && !ready()) return refuse(socket, 503)
    if (refusal?.status === 403) return forbid(refusal, request, socket)
    if (refusal) recordRefusal(refusal, request, misdirected)
    if (refusal) return refuse(socket, refusal.status)
    if (!ready()) return refuse(socket, 503)
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      pending.remove(socket)
      keepAlive(webSocket, socket, heartbeat)
      connect(websocketTransport(webSocket, socket), 'owner', device)
    })
  }

  const http = createHttp({
    // One byte is added, because Node refuses a head of exactly `maxHeaderSize` bytes.
    maxHeaderSize: limits.headBytes + 1,
    headersTimeout: pendingUpgradeLimits.timeoutMs,
    requestTimeout: pendingUpgradeLimits.timeoutMs,
    // The gate answers a missing Host with 421; Node would answer 400.
    requireHostHeader: false,
  })
  // Without listeners for the two `check` events, Node answers them itself, before `Host` is checked.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) http.on(event, respond)
  http.on('upgrade', upgrade)
  http.on('connect', (_request, socket: Duplex) => refuse(socket, 421))
  http.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Duplex) => {
    // Bytes that are not HTTP, such as a failed TLS handshake, get no response.
    if (!code.startsWith('HPE_')) return void socket.destroy()
    refuse(socket, code === 'HPE_HEADER_OVERFLOW' ? 431 : 400)
  })
  return http
}

function secondsOf(ms: number): number {
  return Math.ceil(ms / 1000)
}

function headOf({ url = '', rawHeaders }: IncomingMessage): RequestHead {
  return { target: url, headers: rawHeaders }
}

/**
 * Returns a function that converts a socket to the stream that HTTP reads: the socket itself, or TLS on it. A TLS
 * port accepts no plain text (S-13).
 */
function tlsWrapper(tls: TlsCertificate | undefined): (socket: Socket) => Socket {
  if (!tls) return (socket) => socket
  const secureContext = createSecureContext({ cert: tls.cert, key: tls.key, minVersion: 'TLSv1.2' })
  return (socket) => new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
}
