// Five clients share one session, and each speaks another version of the protocol: 0.1, 0.4, 0.6, 0.9 and 1.0. The newest asks
// the agent to run a command, and the oldest approves it. The host is killed and started again, all five come back, and each
// has the state that a new client of its version gets. Every message is written out, so that the versions can be compared.
// Run: npm run build && node examples/every-version.mjs
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { oracle } from '@atrium/protocol/oracles'
import { WebSocket } from 'ws'

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const data = mkdtempSync(join(tmpdir(), 'atrium-example-'))

/** Starts the real host on the data folder. Resolves when the host listens. */
async function start() {
  const child = spawn(process.execPath, [atrium, 'serve', '--json', '--port', '0', '--data', data], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

/** A client that speaks one version. It folds what it receives with the reducers of that version. */
class Client {
  #clientSeq = 0
  #lastId = 0
  #waiting = new Map()
  #looking = new Set()
  /** The channels that the client follows, by URI. */
  channels = new Map()
  lastSeen = 0

  constructor(version, clientId = `client of ${version}`) {
    this.version = version
    this.clientId = clientId
    this.hasChannels = version >= '0.2'
    this.hasChats = version >= '0.4'
    this.isFlat = version >= '0.5'
    this.root = this.hasChannels ? 'ahp-root://' : 'agenthost:/root'
  }

  async connect({ url, token }) {
    this.socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
    this.socket.on('message', (text) => this.#receive(JSON.parse(text)))
    await once(this.socket, 'open')
  }

  #receive({ id, method, params, result, error }) {
    if (method === 'action') this.#apply(params)
    else if (error) this.#waiting.get(id)?.reject(new Error(`${this.version}: ${error.message}`))
    else if (method === undefined) this.#waiting.get(id)?.resolve(result)
    for (const look of this.#looking) look()
  }

  /** Since 0.2 an envelope names its channel. Before, the action names its session. */
  #apply({ channel, action, serverSeq, rejectionReason }) {
    assert(!rejectionReason, rejectionReason)
    this.lastSeen = Math.max(this.lastSeen, serverSeq)
    const followed = this.channels.get(this.hasChannels ? channel : (action.session ?? this.root))
    if (!followed || serverSeq <= followed.fromSeq) return
    followed.state = oracle(this.version)[followed.kind](followed.state, action, Date.now())
  }

  send(method, params, id) {
    const channel = this.hasChannels ? { channel: this.root } : {}
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...channel, ...params } }))
  }

  ask(method, params = {}) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(++this.#lastId, { resolve, reject })
      this.send(method, params, this.#lastId)
    })
  }

  initialize() {
    return this.ask('initialize', { protocolVersions: [this.version], clientId: this.clientId })
  }

  async subscribe(kind, uri) {
    const { snapshot } = await this.ask('subscribe', this.hasChannels ? { channel: uri } : { resource: uri })
    this.follow(kind, snapshot)
  }

  follow(kind, { resource, state, fromSeq }) {
    this.channels.set(resource, { kind, state, fromSeq })
    this.lastSeen = Math.max(this.lastSeen, fromSeq)
  }

  /** Finds the session in the list, under the URI that it has in this version, and follows it. */
  async open(title) {
    const { items } = await this.ask('listSessions')
    this.session = items.find((item) => item.title === title).resource
    await this.subscribe('session', this.session)
    // Up to 0.3 the turns of a session are in the session itself.
    this.chat = this.hasChats ? this.sessionState.defaultChat : this.session
    if (this.hasChats) await this.subscribe('chat', this.chat)
  }

  /** Comes back with what the client remembers. The host sends what was missed, or snapshots. */
  async reconnect(host) {
    await this.connect(host)
    const { clientId, lastSeen: lastSeenServerSeq } = this
    const subscriptions = [...this.channels.keys()]
    const result = await this.ask('reconnect', { clientId, lastSeenServerSeq, subscriptions })
    for (const envelope of result.actions ?? []) this.#apply(envelope)
    for (const snapshot of result.snapshots ?? [])
      this.follow(this.channels.get(snapshot.resource).kind, snapshot)
    return result.type
  }

  dispatch(channel, action) {
    const clientSeq = ++this.#clientSeq
    if (this.hasChannels) this.send('dispatchAction', { channel, clientSeq, action })
    else this.send('dispatchAction', { clientSeq, action: { ...action, session: channel } })
  }

  /** Waits until the client sees something. */
  sees(what) {
    return new Promise((resolve) => {
      const look = () => {
        const found = what(this)
        if (found && this.#looking.delete(look)) resolve(found)
      }
      this.#looking.add(look)
      look()
    })
  }

  get sessionState() {
    return this.channels.get(this.session).state
  }

  get chatState() {
    return this.channels.get(this.chat).state
  }

  get title() {
    return this.isFlat ? this.sessionState.title : this.sessionState.summary.title
  }

  get call() {
    const turn = this.chatState.activeTurn ?? this.chatState.turns.at(-1)
    return turn?.responseParts.find((part) => part.kind === 'toolCall')?.toolCall
  }
}

let host = await start()
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
newest.dispatch(newest.chat, {
  type: 'chat/turnStarted',
  turnId,
  startedAt: new Date().toISOString(),
  message: { text: 'run echo hello', origin: { kind: 'user' } },
})
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

host = await start()
for (const client of clients) await client.reconnect(host)
await all(({ title }) => title === 'Renamed at 0.4')
console.log('All five come back, and have the title.')

ninth.dispatch(ninth.chat, {
  type: 'chat/turnStarted',
  turnId: 'turn-2',
  startedAt: new Date().toISOString(),
  message: { text: 'say And on it goes.', origin: { kind: 'user' } },
})
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
