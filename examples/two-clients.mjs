// Two clients share a session. The host is killed and started again, and no acknowledged action is lost.
// Run: npm run build && node examples/two-clients.mjs
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const data = mkdtempSync(join(tmpdir(), 'atrium-example-'))
const session = 'ahp-session:/shared'

/** Starts the real host on the data folder. Resolves when the host listens. */
async function start() {
  const child = spawn(process.execPath, [atrium, 'serve', '--json', '--port', '0', '--data', data], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

/** A client of a few lines. It sends requests, dispatches actions, and keeps every envelope that it receives. */
async function connect({ url, token }) {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
  await once(socket, 'open')
  const client = { envelopes: [], lastSeen: 0, close: () => socket.terminate() }
  const waiting = new Map()
  const watching = new Set()
  socket.on('message', (data) => {
    const { id, result, error, method, params } = JSON.parse(data)
    if (method === 'action') {
      client.envelopes.push(params)
      client.lastSeen = params.serverSeq
    } else if (error) waiting.get(id)?.reject(new Error(error.message))
    else waiting.get(id)?.resolve(result)
    for (const look of watching) look()
  })
  let lastId = 0
  client.ask = (method, params) =>
    new Promise((resolve, reject) => {
      waiting.set(++lastId, { resolve, reject })
      socket.send(
        JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params: { channel: 'ahp-root://', ...params } }),
      )
    })
  client.dispatch = (clientSeq, title) => {
    const params = { channel: session, clientSeq, action: { type: 'session/titleChanged', title } }
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params }))
  }
  client.hears = (wanted) =>
    new Promise((resolve) => {
      const look = () => {
        const found = client.envelopes.find(wanted)
        if (found && watching.delete(look)) resolve(found)
      }
      watching.add(look)
      look()
    })
  return client
}

const titled = (title) => (envelope) => envelope.action.title === title
const enter = async (host, clientId) => {
  const client = await connect(host)
  await client.ask('initialize', { protocolVersions: ['1.0.0'], clientId })
  return client
}

let host = await start()
const ann = await enter(host, 'ann')
const ben = await enter(host, 'ben')
await ann.ask('createSession', { channel: session })
for (const client of [ann, ben]) await client.ask('subscribe', { channel: session })

ann.dispatch(1, 'Ann was here')
await ben.hears(titled('Ann was here'))
console.log('Ben sees what Ann says:', ben.envelopes.at(-1).action.title)

const { lastSeen } = ben
ben.close()
ann.dispatch(2, 'While Ben was away')
const echo = await ann.hears(titled('While Ben was away'))
console.log('Ann has her echo: it is on the disk')

host.child.kill('SIGKILL')
await once(host.child, 'exit')
host = await start()
console.log('The host was killed and started again')

const back = await connect(host)
const replay = await back.ask('reconnect', {
  clientId: 'ben',
  lastSeenServerSeq: lastSeen,
  subscriptions: [session],
})
console.log(
  'Ben is told exactly what he missed:',
  replay.type,
  JSON.stringify(replay.actions.map((one) => one.action.title)),
)

const again = await connect(host)
await again.ask('reconnect', {
  clientId: 'ann',
  lastSeenServerSeq: echo.serverSeq - 1,
  subscriptions: [session],
})
again.dispatch(2, 'While Ben was away')
again.dispatch(3, 'And on it goes')
const next = await back.hears(titled('And on it goes'))
console.log('Sent twice, done once:', back.envelopes.length === 1)
console.log('Numbers go on:', next.serverSeq > echo.serverSeq)

for (const client of [ann, back, again]) client.close()
host.child.kill('SIGTERM')
await once(host.child, 'exit')
rmSync(data, { recursive: true })
