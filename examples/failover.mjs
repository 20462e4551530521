// A host of two nodes with one database. Clients of 0.1, 0.9 and 1.0 share a session, in which the agent waits for an approval. Another
// session is in the middle of a turn, and a third one works in a folder that only the owner has. The owner is killed. The standby
// takes over, all clients get what they missed, the client of 0.1 approves, and the command runs once.
// Run: npm run build && ATRIUM_POSTGRES_URL=postgres://user:password@localhost/database node examples/failover.mjs
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { Client, serve } from './version-client.mjs'

assert(process.env.ATRIUM_POSTGRES_URL, 'ATRIUM_POSTGRES_URL must name a database')
const database = new URL(process.env.ATRIUM_POSTGRES_URL)
const { href: address, password } = database
const schema = `failover_${process.pid}_${Date.now()}`
// The password goes through the environment, because everybody can read the arguments of a program.
database.password = ''
database.searchParams.set('schema', schema)

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
    standby: true,
  }
  const env = { ...process.env, PGPASSWORD: decodeURIComponent(password) }
  return { machine, ...(await serve(flags, env)) }
}

/** What a node says of itself: owner or standby. */
async function roleOf({ url }) {
  return (await (await fetch(new URL('/readyz', url.replace('ws:', 'http:')))).text()).trim()
}

/** Creates a session, and follows its chat. Returns the URI of the chat. */
async function create(client, name, directory) {
  const channel = `ahp-session:/${name}`
  const workingDirectories = [pathToFileURL(directory).href]
  await client.ask('createSession', { channel, provider: 'guide', workingDirectories })
  const { defaultChat } = await client.subscribe('session', channel)
  client.dispatch(channel, { type: 'session/titleChanged', title: name })
  await client.sees(() => client.channels.get(channel).state.title === name)
  await client.subscribe('chat', defaultChat)
  return defaultChat
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
await create(newest, 'Shared', at('shared'))
const words = await create(newest, 'Words', at('shared'))
const local = await create(newest, 'Local', at('one'))
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
