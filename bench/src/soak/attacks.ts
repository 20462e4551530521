import { once } from 'node:events'
import { connect } from 'node:net'
import { Client } from '../client.ts'
import type { Endpoint } from '../client.ts'
import type { RandomChoices } from './random-choices.ts'
import { withTimeout } from './timeout.ts'
import type { SoakRun } from './soak-run.ts'

/**
 * Runs random attacks on the host. Each attack expects a certain answer. After many failed attempts, the answer may
 * also be 429.
 */
export async function runAttacks(run: SoakRun, random: RandomChoices): Promise<void> {
  while (!run.over) {
    const [name, attack] = random.pick(Object.entries(attacks)) ?? ['', () => Promise.resolve(undefined)]
    const wrong = await withTimeout(name, attack(run.endpoint)).catch((error: unknown) => String(error))
    run.problem(wrong === undefined ? undefined : `${name}: ${wrong}`)
    run.counts.attacks++
    await random.pause(20, 300)
  }
}

/** An attack. Resolves with a problem if the host did not react as expected. */
type Attack = (endpoint: Endpoint) => Promise<string | undefined>

const attacks: { readonly [name: string]: Attack } = {
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
  const client = await initialized(endpoint)
  client.say(frame)
  await client.ask('ping', {})
  await client.drop()
  return undefined
}

/** Sends a frame. The host must close the connection with `code`. */
async function isClosedWith(
  endpoint: Endpoint,
  frame: string | Buffer,
  code: number,
): Promise<string | undefined> {
  const client = await initialized(endpoint)
  client.say(frame)
  const ended = await client.ended
  return ended === code ? undefined : `the link ended with ${ended}`
}

async function isRefused(endpoint: Endpoint, method: string, params: object): Promise<string | undefined> {
  const client = new Client('nobody')
  await client.connect(endpoint)
  const answered = await client.ask(method, params).then(
    () => true,
    () => false,
  )
  await client.drop()
  return answered ? 'got a result' : undefined
}

/** Connects with one of eight client ids. Attacks share a few ids, because the host remembers every client id. */
async function initialized(endpoint: Endpoint): Promise<Client> {
  const client = new Client(`attacker-${++clients % 8}`)
  await client.initialize(endpoint)
  return client
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
  const response = await once(socket, 'data').then(
    ([data]) => data as Buffer,
    (error: NodeJS.ErrnoException) => {
      // The host closes the socket of a refused request. On a busy machine its reset overtakes the response.
      if (error.code === 'ECONNRESET') return undefined
      throw error
    },
  )
  socket.destroy()
  if (!response) return undefined
  const statusLine = response.toString('latin1').split('\r\n', 1)[0] ?? ''
  return expected.some((status) => statusLine.startsWith(`HTTP/1.1 ${status} `)) ? undefined : statusLine
}

function connectTo({ url }: Endpoint) {
  const { hostname, port } = new URL(url)
  return connect(Number(port), hostname).on('error', () => {})
}
