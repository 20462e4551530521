// A host of two nodes with one database. Clients of 0.1, 0.9 and 1.0 share a session, in which the agent waits for an approval. Another
// session is in the middle of a turn, and a third one works in a folder that only the owner has. The owner is killed. The standby
// takes over, all clients get what they missed, the client of 0.1 approves, and the command runs once.
// Run: npm run build && ATRIUM_POSTGRES_URL=postgres://user:password@localhost/database node examples/failover.mjs
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { oracle } from '@atrium/protocol/oracles'
import pg from 'pg'
import { WebSocket } from 'ws'

assert(process.env.ATRIUM_POSTGRES_URL, 'ATRIUM_POSTGRES_URL must name a database')
const database = new URL(process.env.ATRIUM_POSTGRES_URL)
const { href: address, password } = database
const schema = `failover_${process.pid}_${Date.now()}`
// The password goes through the environment, because everybody can read the arguments of a program.
database.password = ''
database.searchParams.set('schema', schema)

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'atrium-example-'))
const at = (...names) => join(folder, ...names)
for (const name of ['one', 'two', 'shared']) mkdirSync(at(name))
writeFileSync(at('token'), 'kJ3v0hQ2mYx9cE7TnR5sWb1LpZ8uGdAo4fViHtKjXyM', { mode: 0o600 })

/** Starts a node, whose machine has a folder of its own, and one that it shares. Resolves when the node listens. */
async function start(machine) {
  const flags = {
    store: database.href,
    machine,
    data: at(`data-${machine}`),
    'default-directory': at(machine),
    'shared-folder': at('shared'),
    'connection-token-file': at('token'),
    lease: '8',
    port: '0',
  }
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(process.execPath, [atrium, 'serve', '--json', '--standby', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, PGPASSWORD: decodeURIComponent(password) },
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, machine, ...JSON.parse(line) }
}

/** What a node says of itself: owner or standby. */
async function roleOf({ url }) {
  return (await (await fetch(new URL('/readyz', url.replace('ws:', 'http:')))).text()).trim()
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

  constructor(version) {
    this.version = version
    this.hasChannels = version >= '0.2'
    this.root = this.hasChannels ? 'ahp-root://' : 'agenthost:/root'
  }

  async connect({ url, token }) {
    this.socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
    this.socket.on('message', (text) => this.#receive(JSON.parse(text)))
    this.socket.on('error', () => {})
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

  #send(method, params, id) {
    const channel = this.hasChannels ? { channel: this.root } : {}
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...channel, ...params } }))
  }

  ask(method, params = {}) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(++this.#lastId, { resolve, reject })
      this.#send(method, params, this.#lastId)
    })
  }

  initialize() {
    return this.ask('initialize', { protocolVersions: [this.version], clientId: `client of ${this.version}` })
  }

  async follow(kind, uri) {
    const { snapshot } = await this.ask('subscribe', this.hasChannels ? { channel: uri } : { resource: uri })
    this.channels.set(uri, { kind, state: snapshot.state, fromSeq: snapshot.fromSeq })
    this.lastSeen = Math.max(this.lastSeen, snapshot.fromSeq)
    return snapshot.state
  }

  /** Creates a session, and follows its chat. Returns the URI of the chat. */
  async create(name, directory) {
    const channel = `ahp-session:/${name}`
    const workingDirectories = [pathToFileURL(directory).href]
    await this.ask('createSession', { channel, provider: 'guide', workingDirectories })
    const { defaultChat } = await this.follow('session', channel)
    this.dispatch(channel, { type: 'session/titleChanged', title: name })
    await this.sees(() => this.channels.get(channel).state.title === name)
    await this.follow('chat', defaultChat)
    return defaultChat
  }

  /** Finds a session in the list, and follows it. Up to 0.3 the turns of a session are in the session itself. */
  async open(title) {
    const { items } = await this.ask('listSessions')
    this.session = items.find((item) => item.title === title).resource
    const { defaultChat } = await this.follow('session', this.session)
    this.chat = defaultChat ?? this.session
    if (defaultChat) await this.follow('chat', defaultChat)
  }

  /** Comes back with what the client remembers. Resolves with the kind of the answer: a replay, or snapshots. */
  async reconnect(node) {
    await this.connect(node)
    const { lastSeen: lastSeenServerSeq } = this
    const subscriptions = [...this.channels.keys()]
    const params = { clientId: `client of ${this.version}`, lastSeenServerSeq, subscriptions }
    const result = await this.ask('reconnect', params)
    for (const envelope of result.actions ?? []) this.#apply(envelope)
    for (const { resource, state, fromSeq } of result.snapshots ?? [])
      Object.assign(this.channels.get(resource), { state, fromSeq })
    return result.type
  }

  dispatch(channel, action) {
    const clientSeq = ++this.#clientSeq
    if (this.hasChannels) this.#send('dispatchAction', { channel, clientSeq, action })
    else this.#send('dispatchAction', { clientSeq, action: { ...action, session: channel } })
  }

  begin(chat, turnId, text) {
    const message = { text, origin: { kind: 'user' } }
    this.dispatch(chat, { type: 'chat/turnStarted', turnId, startedAt: new Date().toISOString(), message })
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

  turnsOf(chat) {
    const { turns, activeTurn } = this.channels.get(chat).state
    return activeTurn ? [...turns, activeTurn] : turns
  }

  get call() {
    return this.turnsOf(this.chat)
      .at(-1)
      ?.responseParts.find((part) => part.kind === 'toolCall')?.toolCall
  }
}

const one = await start('one')
const two = await start('two')
console.log(`Node one is the ${await roleOf(one)}, node two a ${await roleOf(two)}.`)

const clients = ['0.1.0', '0.9.0', '1.0.0'].map((version) => new Client(version))
const [oldest, , newest] = clients
const all = (what) => Promise.all(clients.map((client) => client.sees(what)))
for (const client of clients) {
  await client.connect(one)
  assert.equal((await client.initialize()).protocolVersion, client.version)
}
await newest.create('Shared', at('shared'))
const words = await newest.create('Words', at('shared'))
const local = await newest.create('Local', at('one'))
for (const client of clients) await client.open('Shared')

newest.begin(newest.chat, 'turn-1', 'run echo done >> done.txt')
await all(({ call }) => call?.status === 'pending-confirmation')
newest.begin(words, 'turn-2', 'slow 1000')
const textOf = (turn) => turn?.responseParts.map(({ content = '' }) => content).join('') ?? ''
await newest.sees(() => textOf(newest.turnsOf(words)[0]).length > 10)
// Words are shown before they are stored. An action is echoed when it is stored, and so is all that came before it.
newest.dispatch('ahp-session:/Words', { type: 'session/titleChanged', title: 'Many words' })
await newest.sees(() => newest.channels.get('ahp-session:/Words').state.title === 'Many words')
console.log('An approval waits, which clients of 0.1, 0.9 and 1.0 see, and another turn is at work.')

one.child.kill('SIGKILL')
await once(one.child, 'exit')
while ((await roleOf(two)) !== 'owner') await sleep(100)
console.log('The owner is killed, and node two takes over.')

const answers = []
for (const client of clients) answers.push(await client.reconnect(two))
console.log('What the three clients get there:', answers.join(', '))

const { error } = await newest.sees(() =>
  newest.turnsOf(words)[0].responseParts.find(({ kind }) => kind === 'error'),
)
console.log('The turn that was at work says:', error.message)

const { toolCallId } = oldest.call
const approval = { turnId: 'turn-1', toolCallId, approved: true, confirmed: 'user-action' }
oldest.dispatch(oldest.session, { type: 'session/toolCallConfirmed', ...approval })
await all(({ call }) => call?.status === 'completed')
const done = readFileSync(at('shared', 'done.txt'), 'utf8')
console.log(`The client of 0.1 approves at node two. Lines in done.txt: ${done.split('\n').length - 1}`)

newest.begin(local, 'turn-3', 'run pwd')
const elsewhere = await newest.sees(() =>
  newest
    .turnsOf(local)
    .at(-1)
    ?.responseParts.find(({ kind }) => kind === 'error'),
)
console.log('A session in a folder of node one:', elsewhere.error.message)

const back = await start('one')
console.log(`Node one is started again, and is a ${await roleOf(back)}.`)

for (const client of clients) client.socket.terminate()
for (const { child } of [back, two]) {
  child.kill('SIGTERM')
  await once(child, 'exit')
}
const link = new pg.Client({ connectionString: address })
await link.connect()
await link.query(`DROP SCHEMA ${schema}, ${schema}_search CASCADE`)
await link.end()
rmSync(folder, { recursive: true, force: true })
