// Two clients with different protocol versions watch the same turn while it is streamed. The host is killed during the turn
// and started again. The turn is resumed where it stopped, and both clients end with the state of the host.
// Run: npm run build && node examples/shared-turn.mjs
import assert from 'node:assert/strict'
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
const session = 'ahp-session:/shared'

/** Starts the real host on the data folder. Resolves when the host listens. */
async function start(port) {
  const child = spawn(process.execPath, [atrium, 'serve', '--json', '--port', port, '--data', data], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

let host = await start('0')
/** A client that speaks one version of the protocol. */
const enter = (clientId, version) =>
  connect({ url: host.url, token: host.token, WebSocket, clientId, versions: [version] })

const textOf = (turn) =>
  (turn?.responseParts ?? []).map((part) => (part.kind === 'markdown' ? part.content : '')).join('')

const ann = enter('ann', '1.0.0')
const ben = enter('ben', '0.9.0')
await ann.ask('createSession', { channel: session })
const { defaultChat } = await ann.subscribe('session', session).until((state) => state.defaultChat)
const chats = [ann, ben].map((client) => client.subscribe('chat', defaultChat))
const [annsChat, bensChat] = chats
for (const chat of chats) await chat.ready()
const [annSpeaks, benSpeaks] = [ann, ben].map((client) => client.host.protocolVersion)
console.log(`Ann speaks ${annSpeaks}, Ben ${benSpeaks}; both follow`, defaultChat.slice(0, 18) + '…')

await annsChat.dispatch({
  type: 'chat/turnStarted',
  turnId: 'turn-1',
  startedAt: new Date().toISOString(),
  message: { text: 'slow 8', origin: { kind: 'user' } },
})
for (const chat of chats) await chat.until((state) => textOf(state.activeTurn).length > 5)
console.log('Both see the answer grow while it is written.')

host.child.kill('SIGKILL')
await once(host.child, 'exit')
console.log('The host is killed.')

// Both clients reconnect by themselves.
host = await start(new URL(host.url).port)
for (const chat of chats) {
  const { turns } = await chat.until((state) => state.turns.length === 1)
  assert.equal(turns[0].state, 'error')
  assert.equal(turns[0].responseParts.at(-1).resumable, true)
}
console.log(
  'It is back. The interrupted turn says:',
  bensChat.state.turns[0].responseParts.at(-1).error.message,
)

await bensChat.dispatch({ type: 'chat/turnResume', turnId: 'turn-1' })
for (const chat of chats)
  await chat.until((state) => state.turns.some(({ state: how }) => how === 'complete'))
console.log('Ben lets it go on, and it ends:', textOf(annsChat.state.turns[0]).length, 'characters')

for (const [at, chat] of chats.entries()) {
  const fresh = enter(`fresh-${at}`, at === 0 ? annSpeaks : benSpeaks)
  const seen = await fresh.subscribe('chat', defaultChat).ready()
  // The title is not compared: a host sends a new title of a chat only to the subscribers of the session.
  assert.deepEqual({ ...chat.confirmed, title: '' }, { ...seen, title: '' })
  fresh.close()
}
console.log('Ann and Ben both have the state that the host has.')

for (const client of [ann, ben]) client.close()
host.child.kill('SIGTERM')
await once(host.child, 'exit')
rmSync(data, { recursive: true, force: true })
