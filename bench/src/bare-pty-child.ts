import { spawn } from '@lydell/node-pty'
import { WebSocketServer } from 'ws'
import { answerQuestions } from './child.ts'

// What one would write first: a shell on a pty, every piece of its output sent as it is, every message typed.
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
server.on('connection', (socket) => {
  const shell = spawn('/bin/bash', ['--norc'], { cols: 80, rows: 24 })
  shell.onData((data) => socket.send(data))
  socket.on('message', (data: Buffer) => shell.write(data.toString()))
  socket.on('close', () => shell.kill())
})
server.on('listening', () => {
  answerQuestions((server.address() as { port: number }).port, () => server.close())
})
