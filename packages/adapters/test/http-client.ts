import { once } from 'node:events'
import { connect as dial } from 'node:net'
import type { Socket } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { listen } from '../src/server/server.ts'
import type { ListenOptions, Listening } from '../src/server/server.ts'

export const token = 'kJ3v0hQ2mYx9cE7TnR5sWb1LpZ8uGdAo4fViHtKjXyM'
/** The connections that the server accepted in the current test. */
export const links: Transport[] = []
/** The client sockets of the current test. */
export const sockets: Socket[] = []

/** Starts a server that is closed after the test, with its connections. */
export async function start(options: Partial<ListenOptions> = {}): Promise<Listening> {
  const connect = (link: Transport, principal: string): void => {
    expect(principal).toBe('owner')
    links.push(link)
  }
  const listening = await listen({ token, connect, ...options })
  onTestFinished(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    const closed = listening.close()
    for (const link of links.splice(0)) link.close()
    await closed
  })
  return listening
}

export interface Headers {
  readonly [name: string]: string | readonly string[] | undefined
}

export const upgrading = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/** Sends a valid upgrade request with some headers replaced. */
export function upgradeAt(port: number, headers: Headers = {}): ReturnType<typeof ask> {
  const all = { Host: `127.0.0.1:${port}`, ...upgrading, Authorization: `Bearer ${token}`, ...headers }
  return ask(port, 'GET / HTTP/1.1', all)
}

/** Sends a request head, and reads until the server closes the socket or accepts the upgrade. */
export async function ask(port: number, line: string, headers: Headers) {
  return send(port, line, headers, '')
}

/** Posts a body, and reads the response. */
export async function post(port: number, path: string, body: string, headers: Headers = {}) {
  const all = { Host: `127.0.0.1:${port}`, 'Content-Length': String(Buffer.byteLength(body)), ...headers }
  return send(port, `POST ${path} HTTP/1.1`, all, body)
}

async function send(port: number, line: string, headers: Headers, sent: string) {
  const socket = await open(port)
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}`),
  )
  socket.write([line, ...lines, '', sent].join('\r\n'))
  const raw = await responseOf(socket)
  const [head = '', body = ''] = raw.split('\r\n\r\n')
  const status = Number(head.split(' ')[1])
  return { status, head, body, raw }
}

export async function open(port: number): Promise<Socket> {
  const socket = dial(port, '127.0.0.1')
  sockets.push(socket)
  await once(socket, 'connect')
  socket.on('error', () => {})
  return socket
}

/**
 * Returns all bytes of a response, without its Date header. Reads until the server closes the socket or accepts an upgrade.
 */
export function responseOf(socket: Socket): Promise<string> {
  let text = ''
  return new Promise((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (text.startsWith('HTTP/1.1 101')) resolve(text)
    })
    socket.once('close', () => resolve(text.replace(/\r\nDate: [^\r]*/i, '')))
  })
}

/** Resolves when the socket is closed, in order or by a reset. */
export async function socketClosed(socket: Socket): Promise<void> {
  socket.resume()
  // `once` of `node:events` would reject at the error of a reset.
  if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve))
}
