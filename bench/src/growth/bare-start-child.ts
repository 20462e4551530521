import { WebSocketServer } from 'ws'

// The simplest possible host. It loads only `ws`, answers every request with an empty result, and stores nothing.
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
server.on('connection', (socket) => {
  socket.on('message', (data: Buffer) => {
    const { id } = JSON.parse(data.toString()) as { readonly id: number }
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
  })
})
server.on('listening', () => {
  const { port } = server.address() as { readonly port: number }
  process.stdout.write(`${JSON.stringify({ url: `ws://127.0.0.1:${port}/` })}\n`)
})
