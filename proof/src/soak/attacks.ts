import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '@atrium/protocol/limits'
import { WebSocket } from 'ws'
import type { Chance } from '../chance.ts'
import type { Address as Endpoint } from '../chaos/host.ts'

interface Reports {
  readonly problem: (problem: string) => void
  readonly done: () => void
}

/** No answer may take longer than this, even on a very busy machine. */
const timeoutMs = 120_000

/**
 * Runs random attacks on the host. Each attack expects a certain answer. After many failed attempts, the answer may
 * also be 429.
 */
export async function runAttacks(
  endpoint: Endpoint,
  chance: Chance,
  over: AbortSignal,
  { problem, done }: Reports,
): Promise<void> {
  while (!over.aborted) {
    const [name, attack] = chance.pick(Object.entries(attacks)) ?? ['', async () => undefined]
    const late = sleep(timeoutMs, 'no answer', { ref: false })
    const wrong = await Promise.race([attack(endpoint), late]).catch((error: unknown) => String(error))
    if (wrong !== undefined) problem(`${name}: ${wrong}`)
    done()
    await sleep(chance.between(20, 300))
  }
}

/** An attack. Resolves with a problem if the host did not react as expected. */
type Attack = (endpoint: Endpoint) => Promise<string | undefined>

export const attacks: { readonly [name: string]: Attack } = {
  'a wrong token': (endpoint) => upgrade(endpoint, { token: 'x'.repeat(32) }, 403, 429),
  'no token': (endpoint) => upgrade(endpoint, { token: '' }, 403, 429),
  'a foreign host': (endpoint) => upgrade(endpoint, { host: 'example.com' }, 421),
  'a foreign origin': (endpoint) => upgrade(endpoint, { origin: 'https://example.com' }, 403, 429),
  'half a request head': async (endpoint) => {
    const socket = connectTo(endpoint)
    await once(socket, 'connect')
    socket.write('GET / HTTP/1.1\r\nHost: ')
    socket.destroy()
    return undefined
  },
  'no request': async (endpoint) => {
    const socket = connectTo(endpoint)
    await once(socket, 'connect')
    socket.destroy()
    return undefined
  },
  'invalid JSON': (endpoint) => staysOpen(endpoint, '{"jsonrpc":'),
  'a batch': (endpoint) => staysOpen(endpoint, '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'),
  'JSON that is no message': (endpoint) => staysOpen(endpoint, '{"hello":"there"}'),
  'a response without a request': (endpoint) => staysOpen(endpoint, '{"jsonrpc":"2.0","id":77,"result":1}'),
  'an unknown notification': (endpoint) => staysOpen(endpoint, '{"jsonrpc":"2.0","method":"constructor"}'),
  'a __proto__ key': (endpoint) =>
    isClosedWith(endpoint, '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}', 1008),
  'deep nesting': (endpoint) => isClosedWith(endpoint, '['.repeat(100_000), 1008),
  'many keys': (endpoint) => isClosedWith(endpoint, `{${'"a":1,'.repeat(20_000)}"b":1}`, 1008),
  'a binary frame': (endpoint) => isClosedWith(endpoint, Buffer.from('{}'), 1003),
  'a frame too large': (endpoint) => isClosedWith(endpoint, 'x'.repeat(4 * 1024 * 1024 + 1), 1009),
  'a request before the handshake': (endpoint) => isRefused(endpoint, 'listSessions', {}),
  'an unknown client': (endpoint) =>
    isRefused(endpoint, 'reconnect', { clientId: 'nobody', lastSeenServerSeq: 1, subscriptions: [] }),
  'an unknown version': (endpoint) =>
    isRefused(endpoint, 'initialize', { clientId: 'old', protocolVersions: ['99.0.0'] }),
}

let clients = 0

/** Sends a frame. The connection must stay open. */
async function staysOpen(endpoint: Endpoint, frame: string): Promise<string | undefined> {
  const socket = await initialized(endpoint)
  socket.send(frame)
  const answer = await asked(socket, 'ping', {})
  socket.terminate()
  return answer.startsWith('ended') ? answer : undefined
}

/** Sends a frame. The host must close the connection with `code`. */
async function isClosedWith(
  endpoint: Endpoint,
  frame: string | Buffer,
  code: number,
): Promise<string | undefined> {
  const socket = await initialized(endpoint)
  socket.send(frame)
  const [ended] = (await once(socket, 'close')) as [number]
  return ended === code ? undefined : `the link ended with ${ended}`
}

async function isRefused(endpoint: Endpoint, method: string, params: object): Promise<string | undefined> {
  const socket = await opened(endpoint)
  const answer = await asked(socket, method, params)
  socket.terminate()
  return answer.includes('"result"') ? `got ${answer}` : undefined
}

async function opened({ url, token }: Endpoint): Promise<WebSocket> {
  for (;;) {
    const late = lateFromNow()
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } }).on('error', () => {})
    try {
      await once(socket, 'open')
      return socket
    } catch (error) {
      if (!late()) throw error
    }
  }
}

/**
 * Returns a function that tells whether a request which begins now has come too late: the judge keeps this thread for seconds, and the
 * host ends a socket without a request (S-07).
 */
function lateFromNow(): () => boolean {
  const began = performance.now()
  return () => performance.now() - began >= limits.upgradeMs
}

/** Connects with one of eight client ids. Attacks share a few ids, because the host remembers every client id. */
async function initialized(endpoint: Endpoint): Promise<WebSocket> {
  const socket = await opened(endpoint)
  const clientId = `attacker-${++clients % 8}`
  await asked(socket, 'initialize', { protocolVersions: ['1.0.0'], clientId })
  return socket
}

/** Sends a request. Resolves with the text of the response, or with the code with which the link ended before. */
function asked(socket: WebSocket, method: string, params: object): Promise<string> {
  const id = `own ${++clients}`
  return new Promise((resolve) => {
    const take = (data: Buffer): void => {
      if (!data.includes(id)) return
      socket.off('message', take)
      resolve(data.toString())
    }
    socket.on('message', take).once('close', (code) => resolve(`ended with ${code}`))
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: { channel: 'ahp-root://', ...params } }))
  })
}

interface UpgradeHeaders {
  readonly host?: string
  readonly origin?: string
  readonly token?: string
}

/** Sends an upgrade request. The host must answer with one of the expected status codes. */
async function upgrade(
  endpoint: Endpoint,
  headers: UpgradeHeaders,
  ...expected: readonly number[]
): Promise<string | undefined> {
  const { host = new URL(endpoint.url).host, origin, token = endpoint.token } = headers
  const late = lateFromNow()
  const socket = connectTo(endpoint)
  const lines = [
    'GET / HTTP/1.1',
    `Host: ${host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ...(origin === undefined ? [] : [`Origin: ${origin}`]),
    ...(token === '' ? [] : [`Authorization: Bearer ${token}`]),
  ]
  socket.write([...lines, '', ''].join('\r\n'))
  const response: Buffer | 'closed' | 'reset' = await Promise.race([
    once(socket, 'data'),
    once(socket, 'close'),
  ]).then(
    ([data]) => (data instanceof Buffer ? data : 'closed'),
    (error: NodeJS.ErrnoException) => {
      // The host closes the socket of a refused request. On a busy machine its reset overtakes the response.
      if (error.code === 'ECONNRESET') return 'reset'
      throw error
    },
  )
  socket.destroy()
  if (response === 'closed' && !late()) return 'the socket was closed without a response'
  if (typeof response === 'string') return undefined
  const statusLine = response.toString('latin1').split('\r\n', 1)[0] ?? ''
  return expected.some((status) => statusLine.startsWith(`HTTP/1.1 ${status} `)) ? undefined : statusLine
}

function connectTo({ url }: Endpoint) {
  const { hostname, port } = new URL(url)
  return connect(Number(port), hostname).on('error', () => {})
}
