// Five clients share one session, and each speaks another version of the protocol: 0.1, 0.4, 0.6, 0.9 and 1.0. The newest asks
// the agent to run a command, and the oldest approves it. The host is killed and started again, all five come back, and each
// has the state that a new client of its version gets. The messages are in `version-client.mjs`.
// Run: npm run build && node examples/every-version.mjs
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, serve } from './version-client.mjs'

const data = mkdtempSync(join(tmpdir(), 'atrium-example-'))

let host = await serve({ data })
const clients = ['0.1.0', '0.4.0', '0.6.0', '0.9.0', '1.0.0'].map((version) => new Client(version))
const [first, fourth, sixth, ninth, newest] = clients
const all = (what) => Promise.all(clients.map((client) => client.sees(what)))

for (const client of clients) {
  await client.connect(host)
  const { protocolVersion } = await client.initialize()
  assert.equal(protocolVersion, client.version)
}

newest.session = 'ahp-session:/shared'
await newest.ask('createSession', { channel: newest.session })
await newest.subscribe('session', newest.session)
newest.dispatch(newest.session, { type: 'session/titleChanged', title: 'Shared' })
await newest.sees(({ title }) => title === 'Shared')
for (const client of clients) await client.open('Shared')
console.log(`At 1.0 the session is ${newest.session}, and at 0.1 it is ${first.session}.`)

const turnId = 'turn-1'
newest.begin(newest.chat, turnId, 'run echo hello')
await all(({ call }) => call?.status === 'pending-confirmation')
console.log('A client of 1.0 wants a command to be run, and all five are asked.')

const { toolCallId } = first.call
const approval = { turnId, toolCallId, approved: true, confirmed: 'user-action' }
first.dispatch(first.session, { type: 'session/toolCallConfirmed', ...approval })
await all(({ call, chatState }) => call?.status === 'completed' && chatState.turns.length === 1)
console.log('The client of 0.1 approves it, and all five see that it ran.')

sixth.socket.terminate()
fourth.dispatch(fourth.session, { type: 'session/titleChanged', title: 'Renamed at 0.4' })
await Promise.all(
  [first, fourth, ninth, newest].map((client) => client.sees(({ title }) => title === 'Renamed at 0.4')),
)
host.child.kill('SIGKILL')
await once(host.child, 'exit')
console.log('The client of 0.6 misses a new title. Then the host is killed.')

host = await serve({ data })
for (const client of clients) await client.reconnect(host)
await all(({ title }) => title === 'Renamed at 0.4')
console.log('All five come back, and have the title.')

ninth.begin(ninth.chat, 'turn-2', 'say And on it goes.')
await all(({ chatState }) => chatState.turns.length === 2)
const answers = clients.map(({ chatState }) => chatState.turns[1].responseParts[0].content)
console.log('It goes on at 0.9, and all five read:', [...new Set(answers)].join(' / '))

/** A state without the times that each client takes from its own clock. */
const comparable = (state) =>
  JSON.parse(JSON.stringify(state, (key, value) => (key === 'modifiedAt' ? undefined : value)))

for (const client of clients) {
  const fresh = new Client(client.version, `new client of ${client.version}`)
  await fresh.connect(host)
  await fresh.initialize()
  await fresh.open('Renamed at 0.4')
  assert.deepEqual(comparable(client.sessionState), comparable(fresh.sessionState))
  // The title of a chat is not compared: a host sends a new one only to the subscribers of the session.
  const [seen, told] = [client, fresh].map(({ chatState }) => comparable({ ...chatState, title: '' }))
  assert.deepEqual(seen, told)
  fresh.socket.terminate()
}
console.log('Each has the state that a new client of its version gets.')

for (const client of clients) client.socket.terminate()
host.child.kill('SIGTERM')
await once(host.child, 'exit')
rmSync(data, { recursive: true, force: true })
