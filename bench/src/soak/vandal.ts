import { once } from 'node:events'
import { connect } from 'node:net'
import { Client } from '../client.ts'
import type { Place } from '../client.ts'
import type { Chance } from './chance.ts'
import { patiently } from './patience.ts'
import type { Town } from './town.ts'

/** Somebody who means no good. Each attack has its right answer; whoever knocks too often is told that instead. */
export async function vandal(town: Town, chance: Chance): Promise<void> {
  while (!town.over) {
    const [name, attack] = chance.pick(Object.entries(attacks)) ?? ['', () => Promise.resolve(undefined)]
    const wrong = await patiently(name, attack(town.place)).catch((error: unknown) => String(error))
    town.problem(wrong === undefined ? undefined : `${name}: ${wrong}`)
    town.done.attacks++
    await chance.pause(20, 300)
  }
}

/** Gives what went otherwise than it should. */
type Attack = (place: Place) => Promise<string | undefined>

const attacks: { readonly [name: string]: Attack } = {
  'a wrong token': (place) => knock(place, { token: 'x'.repeat(32) }, 403, 429),
  'no token': (place) => knock(place, { token: '' }, 403, 429),
  'a foreign host': (place) => knock(place, { host: 'example.com' }, 421),
  'a foreign origin': (place) => knock(place, { origin: 'https://example.com' }, 403, 429),
  'half a head': async (place) => {
    const socket = dial(place)
    await once(socket, 'connect')
    socket.write('GET / HTTP/1.1\r\nHost: ')
    socket.destroy()
    return undefined
  },
  'no words': async (place) => {
    const socket = dial(place)
    await once(socket, 'connect')
    socket.destroy()
    return undefined
  },
  'no JSON': (place) => livesOn(place, '{"jsonrpc":'),
  'a batch': (place) => livesOn(place, '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'),
  'no message': (place) => livesOn(place, '{"hello":"there"}'),
  'an answer to nothing': (place) => livesOn(place, '{"jsonrpc":"2.0","id":77,"result":1}'),
  'an unknown notification': (place) => livesOn(place, '{"jsonrpc":"2.0","method":"constructor"}'),
  'a prototype': (place) => endsWith(place, '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}', 1008),
  'a deep hole': (place) => endsWith(place, '['.repeat(100_000), 1008),
  'many keys': (place) => endsWith(place, `{${'"a":1,'.repeat(20_000)}"b":1}`, 1008),
  'a binary frame': (place) => endsWith(place, Buffer.from('{}'), 1003),
  'a frame too large': (place) => endsWith(place, 'x'.repeat(4 * 1024 * 1024 + 1), 1009),
  'a question before the handshake': (place) => refused(place, 'listSessions', {}),
  'an unknown client': (place) =>
    refused(place, 'reconnect', { clientId: 'nobody', lastSeenServerSeq: 1, subscriptions: [] }),
  'an unknown version': (place) =>
    refused(place, 'initialize', { clientId: 'old', protocolVersions: ['99.0.0'] }),
}

let clients = 0

/** The link outlives what was said. */
async function livesOn(place: Place, frame: string): Promise<string | undefined> {
  const client = await entered(place)
  client.say(frame)
  await client.ask('ping', {})
  await client.drop()
  return undefined
}

async function endsWith(place: Place, frame: string | Buffer, code: number): Promise<string | undefined> {
  const client = await entered(place)
  client.say(frame)
  const ended = await client.ended
  return ended === code ? undefined : `the link ended with ${ended}`
}

async function refused(place: Place, method: string, params: object): Promise<string | undefined> {
  const client = new Client('nobody')
  await client.connect(place)
  const answered = await client.ask(method, params).then(
    () => true,
    () => false,
  )
  await client.drop()
  return answered ? 'was answered' : undefined
}

/** The same few names again and again: a client is remembered for ever. */
async function entered(place: Place): Promise<Client> {
  const client = new Client(`vandal-${++clients % 8}`)
  await client.initialize(place)
  return client
}

interface Said {
  readonly host?: string
  readonly origin?: string
  readonly token?: string
}

async function knock(place: Place, said: Said, ...right: readonly number[]): Promise<string | undefined> {
  const { host = new URL(place.url).host, origin, token = place.token } = said
  const socket = dial(place)
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
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  const first = answer.toString('latin1').split('\r\n', 1)[0] ?? ''
  return right.some((status) => first.startsWith(`HTTP/1.1 ${status} `)) ? undefined : first
}

function dial({ url }: Place) {
  const { hostname, port } = new URL(url)
  return connect(Number(port), hostname).on('error', () => {})
}
