// Two clients of different protocol versions share a turn while it is streamed; the host is killed in the middle of it
// and started again; the turn goes on where it was, and both end with the state that the host has.
// Run: npm run build && node examples/shared-turn.mjs
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { reduceChat } from '@atrium/protocol/chat/reducer'
import { WebSocket } from 'ws'

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const data = mkdtempSync(join(tmpdir(), 'atrium-example-'))
const session = 'ahp-session:/shared'

/** Starts the real host on the data folder; resolves when it listens. */
async function start() {
  const child = spawn(process.execPath, [atrium, 'serve', '--json', '--port', '0', '--data', data], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

/** A client that follows one chat: it folds what it is told over the snapshot it was handed. */
class Client {
  chat = undefined
  lastSeen = 0
  #waiting = new Map()
  #watching = new Set()
  #ids = 0
  #clientSeq = 0

  constructor(clientId, version) {
    this.clientId = clientId
    this.version = version
  }

  async connect({ url, token }) {
    this.socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
    await once(this.socket, 'open')
    this.socket.on('message', (data) => this.#hear(JSON.parse(data)))
    return this
  }

  async enter(host) {
    await this.connect(host)
    const { clientId } = this
    const opened = await this.ask('initialize', { protocolVersions: [this.version], clientId })
    assert.equal(opened.protocolVersion, this.version)
    return this
  }

  /** Comes back: what it missed, or where what it had seen did not outlive the host, the state as it is now. */
  async comeBack(host, subscriptions) {
    await this.connect(host)
    const answer = await this.ask('reconnect', {
      clientId: this.clientId,
      lastSeenServerSeq: this.lastSeen,
      subscriptions,
    })
    for (const envelope of answer.actions ?? []) this.#apply(envelope)
    for (const { state, fromSeq } of answer.snapshots ?? []) this.#show(state, fromSeq)
    return answer.type
  }

  async subscribe(channel) {
    const { snapshot } = await this.ask('subscribe', { channel })
    this.#show(snapshot.state, snapshot.fromSeq)
  }

  ask(method, params) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(++this.#ids, { resolve, reject })
      this.#send({ id: this.#ids, method, params: { channel: 'ahp-root://', ...params } })
    })
  }

  dispatch(channel, action) {
    this.#send({ method: 'dispatchAction', params: { channel, clientSeq: ++this.#clientSeq, action } })
  }

  /** Resolves when the chat is as wished. */
  sees(wished) {
    return new Promise((resolve) => {
      const look = () => wished(this.chat) && this.#watching.delete(look) && resolve()
      this.#watching.add(look)
      look()
    })
  }

  #send(message) {
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  #hear({ id, result, error, method, params }) {
    if (method === 'action') this.#apply(params)
    else if (error) this.#waiting.get(id)?.reject(new Error(error.message))
    else this.#waiting.get(id)?.resolve(result)
  }

  #apply({ action, serverSeq, rejectionReason }) {
    if (rejectionReason !== undefined) throw new Error(rejectionReason)
    this.#show(this.chat && reduceChat(this.chat, action), serverSeq)
  }

  #show(chat, seq) {
    this.chat = chat
    this.lastSeen = Math.max(this.lastSeen, seq)
    for (const look of this.#watching) look()
  }
}

const textOf = (turn) =>
  (turn?.responseParts ?? []).map((part) => (part.kind === 'markdown' ? part.content : '')).join('')

let host = await start()
const ann = await new Client('ann', '1.0.0').enter(host)
const ben = await new Client('ben', '0.9.0').enter(host)
await ann.ask('createSession', { channel: session })
const { snapshot } = await ann.ask('subscribe', { channel: session })
const chat = snapshot.state.defaultChat
for (const client of [ann, ben]) await client.subscribe(chat)
console.log(`Ann speaks ${ann.version}, Ben ${ben.version}; both follow`, chat.slice(0, 18) + '…')

ann.dispatch(chat, {
  type: 'chat/turnStarted',
  turnId: 'turn-1',
  startedAt: new Date().toISOString(),
  message: { text: 'long 3000', origin: { kind: 'user' } },
})
for (const client of [ann, ben]) await client.sees((state) => textOf(state.activeTurn).length > 500)
console.log('Both see the answer grow while it is written.')

host.child.kill('SIGKILL')
await once(host.child, 'exit')
console.log('The host is killed.')

host = await start()
for (const client of [ann, ben]) await client.comeBack(host, [session, chat])
for (const client of [ann, ben]) {
  const [turn] = client.chat.turns
  assert.equal(turn.state, 'error')
  assert.equal(turn.responseParts.at(-1).resumable, true)
}
console.log(
  'It is back. The turn was broken off, and says so:',
  ben.chat.turns[0].responseParts.at(-1).error.message,
)

ben.dispatch(chat, { type: 'chat/turnResume', turnId: 'turn-1' })
for (const client of [ann, ben])
  await client.sees((state) => state.turns.some(({ state: how }) => how === 'complete'))
console.log('Ben lets it go on, and it ends:', textOf(ann.chat.turns[0]).length, 'characters')

for (const client of [ann, ben]) {
  const fresh = await new Client(`fresh-${client.clientId}`, client.version).enter(host)
  await fresh.subscribe(chat)
  // A chat's title is told where its session is followed.
  assert.deepEqual({ ...client.chat, title: '' }, { ...fresh.chat, title: '' })
  fresh.socket.close()
}
console.log('Ann and Ben both have the state that the host has.')

for (const client of [ann, ben]) client.socket.close()
host.child.kill('SIGTERM')
await once(host.child, 'exit')
rmSync(data, { recursive: true, force: true })
