import { fdatasync, openSync, unlinkSync, write } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loremText } from '@atrium/adapters/guide/words'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { answerParent } from './child.ts'

// The bare host that the real host is compared with. It has no log, no checks and no disk, and makes the bytes of a message
// once for all receivers. With the argument `durable` it writes each envelope to a file and syncs the file before it
// delivers the envelope.
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
const channels = new Map<string, Set<WebSocket>>()
const store = process.argv.includes('durable') ? fileStore() : deliver
let seq = 0

server.on('connection', (socket) => {
  socket.on('close', () => channels.forEach((clients) => clients.delete(socket)))
  socket.on('message', (data: Buffer) => {
    const { id, method, params } = JSON.parse(data.toString()) as Message
    if (method === 'subscribe') subscribe(socket, (params as { channel: string }).channel)
    if (method === 'blast') return blast(socket, params as { count: number; bytes: number })
    if (id !== undefined) return socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
    seq++
    const { channel, clientSeq, action } = params as Dispatch
    store({ channel, action, serverSeq: seq, origin: { clientId: 'bench', clientSeq } })
    if (action.type === 'chat/turnStarted') answerTurn(channel, action)
  })
})

interface Message {
  readonly id?: number
  readonly method: string
  readonly params: unknown
}

interface Dispatch {
  readonly channel: string
  readonly clientSeq: number
  readonly action: { readonly type: string; readonly turnId?: string; readonly message?: { text: string } }
}

interface Envelope {
  readonly channel: string
  readonly [key: string]: unknown
}

function subscribe(socket: WebSocket, channel: string): void {
  const clients = channels.get(channel) ?? new Set()
  channels.set(channel, clients.add(socket))
}

function deliver(envelope: Envelope): void {
  const frame = Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'action', params: envelope }))
  for (const client of channels.get(envelope.channel) ?? []) client.send(frame, { binary: false })
}

/** Writes envelopes to a file, with group commit: envelopes that arrive during a sync are written together. */
function fileStore(): (envelope: Envelope) => void {
  const path = join(tmpdir(), `atrium-bare-${process.pid}.log`)
  const file = openSync(path, 'a', 0o600)
  unlinkSync(path)
  let waiting: Envelope[] = []
  let busy = false
  const flush = async () => {
    busy = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      await promisify(write)(file, batch.map((envelope) => `${JSON.stringify(envelope)}\n`).join(''))
      await promisify(fdatasync)(file)
      batch.forEach(deliver)
    }
    busy = false
  }
  return (envelope) => {
    waiting.push(envelope)
    if (!busy) void flush()
  }
}

/**
 * Answers the message `long N` with N words, one action each, as the built-in agent does. Stores and checks nothing.
 */
function answerTurn(channel: string, { turnId = '', message }: Dispatch['action']): void {
  const partId = `${turnId}-1`
  const send = (action: object) => deliver({ channel, action, serverSeq: ++seq })
  send({ type: 'chat/responsePart', part: { kind: 'markdown', id: partId, content: '' }, turnId })
  for (const [content] of loremText(Number(message?.text.split(' ')[1])).matchAll(/\S+\s*/g))
    send({ type: 'chat/delta', partId, content, turnId })
  send({ type: 'chat/turnComplete', turnId, duration: 0 })
}

function blast(socket: WebSocket, { count, bytes }: { count: number; bytes: number }): void {
  const frame = 'x'.repeat(bytes)
  for (let i = 0; i < count; i++) socket.send(frame)
}

server.on('listening', () => {
  answerParent((server.address() as { port: number }).port, () => server.close())
})
