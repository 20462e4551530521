import { spawn } from '@lydell/node-pty'
import { WebSocketServer } from 'ws'
import { answerParent } from './child.ts'

// The bare terminal that the host is compared with: a shell on a pty. It sends the output of the shell unchanged, and
// types every message that it receives into the shell.
const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
server.on('connection', (socket) => {
  const shell = spawn('/bin/bash', ['--norc'], { cols: 80, rows: 24 })
  shell.onData((data) => socket.send(data))
  socket.on('message', (data: Buffer) => shell.write(data.toString()))
  socket.on('close', () => shell.kill())
})
server.on('listening', () => {
  answerParent((server.address() as { port: number }).port, () => server.close())
})
