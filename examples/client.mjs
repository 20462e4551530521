// Uses the client library. The client shows its own actions at once. The host is killed and started again, and the client
// reconnects and continues by itself.
// Run: npm run build && node examples/client.mjs
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { connect } from '@atrium/client'
import { WebSocket } from 'ws'

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const data = mkdtempSync(join(tmpdir(), 'atrium-example-'))

/** Starts the real host. Resolves when the host listens. */
async function start(port) {
  const args = [atrium, 'serve', '--json', '--port', port, '--data', data]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

let host = await start('0')
const client = connect({ url: host.url, token: host.token, WebSocket })

// Create a session and open its default chat.
const uri = `ahp-session:/${crypto.randomUUID()}`
await client.ask('createSession', { channel: uri, provider: 'guide' })
const session = client.subscribe('session', uri)
const { defaultChat } = await session.until((state) => state.lifecycle === 'ready' && state.defaultChat)
const chat = client.subscribe('chat', defaultChat)
await chat.ready()

// The client shows its own action at once. Later the host accepts the action, or rejects it and the client takes it
// back.
const renamed = session.dispatch({ type: 'session/titleChanged', title: 'My session' })
console.log(
  `Shown at once: ${session.state.title}; the host says: ${session.confirmed.title || 'nothing yet'}`,
)
console.log(`Then: ${(await renamed).outcome}`)
const refused = await session.dispatch({ type: 'session/activeClientRemoved', clientId: 'somebody else' })
console.log(`What may not be is taken back: ${refused.outcome}, ${refused.reason}`)

// Start a turn. The answer grows while the agent writes it.
const message = { text: 'slow 200', origin: { kind: 'user' } }
await chat.dispatch({ type: 'chat/turnStarted', turnId: 'one', startedAt: new Date().toISOString(), message })
const lengthOf = ({ activeTurn, turns }) => {
  const parts = (activeTurn ?? turns.at(-1))?.responseParts ?? []
  return parts.reduce((length, part) => length + (part.content?.length ?? 0), 0)
}
await chat.until((state) => lengthOf(state) > 5)
console.log('The answer grows.')

// Kill the host. An action that is dispatched meanwhile waits, and is sent when the client has reconnected by itself.
const stale = new Promise((resolve) => client.onLink(({ state }) => state === 'stale' && resolve()))
host.child.kill('SIGKILL')
await stale
const said = session.dispatch({ type: 'session/titleChanged', title: 'Said while nobody listened' })
console.log(`The link is ${client.link.state}; shown all the same: ${session.state.title}`)
host = await start(new URL(host.url).port)
console.log(`Then: ${(await said).outcome}, and the link is ${client.link.state}.`)
const { turns } = await chat.until((state) => state.turns.length === 1)
console.log(
  `The turn says what became of it: ${turns[0].state}. Nothing is pending: ${client.pending.length === 0}`,
)

client.close()
host.child.kill()
await once(host.child, 'exit')
rmSync(data, { recursive: true })
