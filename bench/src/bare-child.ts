import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { answerQuestions } from './child.ts'

// What one would write first: no log, no checks, a frame made for every receiver, and nothing on any disk.
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
const clients = new Set<WebSocket>()
let seq = 0

server.on('connection', (socket) => {
  socket.on('close', () => clients.delete(socket))
  socket.on('message', (data: Buffer) => {
    const { id, method, params } = JSON.parse(data.toString()) as Message
    if (method === 'subscribe') clients.add(socket)
    if (method === 'blast') return blast(socket, params as { count: number; bytes: number })
    if (id !== undefined) return socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
    seq++
    const { channel, clientSeq, action } = params as { channel: string; clientSeq: number; action: object }
    const envelope = { channel, action, serverSeq: seq, origin: { clientId: 'bench', clientSeq } }
    for (const client of clients)
      client.send(JSON.stringify({ jsonrpc: '2.0', method: 'action', params: envelope }))
  })
})

interface Message {
  readonly id?: number
  readonly method: string
  readonly params: unknown
}

function blast(socket: WebSocket, { count, bytes }: { count: number; bytes: number }): void {
  const frame = 'x'.repeat(bytes)
  for (let i = 0; i < count; i++) socket.send(frame)
}

server.on('listening', () => {
  answerQuestions((server.address() as { port: number }).port, () => server.close())
})
