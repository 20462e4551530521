// What people decide while an agent works, shared and durable: Ben approves what Ann asked for, and edits it first; Cat answers
// a form without ever opening the chat; the host is killed while somebody is asked, and what is approved afterwards is
// done once; what was allowed for good is listed, and taken back.
// Run: npm run build && node examples/decisions.mjs
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { reduceChat } from '@atrium/protocol/chat/reducer'
import { reduceRoot } from '@atrium/protocol/root/reducer'
import { reduceSession } from '@atrium/protocol/session/reducer'
import { fileUri } from '@atrium/protocol/file-uri'
import { defaultChatUri } from '@atrium/protocol/uri'
import { WebSocket } from 'ws'

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'atrium-example-'))
const work = join(folder, 'work')
mkdirSync(work)
writeFileSync(join(work, 'notes.txt'), 'hello\n')

const root = 'ahp-root://'
const session = 'ahp-session:/decisions'
const chat = defaultChatUri(session)
const reducers = { [root]: reduceRoot, [session]: reduceSession, [chat]: reduceChat }

/** Starts the real host; resolves when it listens. */
async function start() {
  const args = [atrium, 'serve', '--json', '--port', '0', '--data', join(folder, 'data')]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

/** A client that follows some channels, and folds what it is told over the snapshots it was handed. */
class Client {
  states = new Map()
  #waiting = new Map()
  #watching = new Set()
  #ids = 0
  #clientSeq = 0

  constructor(clientId) {
    this.clientId = clientId
  }

  async enter({ url, token }, ...channels) {
    this.socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
    await once(this.socket, 'open')
    this.socket.on('message', (data) => this.#hear(JSON.parse(data)))
    await this.ask('initialize', { protocolVersions: ['1.0.0'], clientId: this.clientId })
    for (const channel of channels) await this.follow(channel)
    return this
  }

  async follow(channel) {
    const { snapshot } = await this.ask('subscribe', { channel })
    this.states.set(channel, snapshot.state)
  }

  ask(method, params) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(++this.#ids, { resolve, reject })
      this.#send({ id: this.#ids, method, params: { channel: root, ...params } })
    })
  }

  /** Resolves with why it was refused, or with nothing. */
  dispatch(channel, action) {
    const clientSeq = ++this.#clientSeq
    this.#send({ method: 'dispatchAction', params: { channel, clientSeq, action } })
    return new Promise((resolve) => this.#waiting.set(`own ${clientSeq}`, { resolve }))
  }

  say(text) {
    const turnId = `${this.clientId}-${++this.#ids}`
    const message = { text, origin: { kind: 'user' } }
    return this.dispatch(chat, {
      type: 'chat/turnStarted',
      turnId,
      startedAt: new Date().toISOString(),
      message,
    })
  }

  queue(id, text) {
    const message = { text, origin: { kind: 'user' } }
    return this.dispatch(chat, { type: 'chat/pendingMessageSet', kind: 'queued', id, message })
  }

  /** The tool call that waits for somebody. */
  async asked() {
    const find = () =>
      this.states
        .get(chat)
        .activeTurn?.responseParts.find((part) => part.toolCall?.status === 'pending-confirmation')?.toolCall
    await this.until(find)
    return find()
  }

  async approve(given = {}) {
    const { toolCallId } = await this.asked()
    const turnId = this.states.get(chat).activeTurn.id
    const yes = { approved: true, confirmed: 'user-action' }
    return this.dispatch(chat, { type: 'chat/toolCallConfirmed', turnId, toolCallId, ...yes, ...given })
  }

  /** The last turn, when so many are over and none is going on. */
  async rest(turns) {
    const calm = () => this.states.get(chat).turns.length === turns && !this.states.get(chat).activeTurn
    await this.until(calm)
    return this.states.get(chat).turns.at(-1)
  }

  until(wished) {
    return new Promise((resolve) => {
      const look = () => wished() && this.#watching.delete(look) && resolve()
      this.#watching.add(look)
      look()
    })
  }

  #send(message) {
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  #hear({ id, result, error, method, params }) {
    if (method === 'action') return this.#apply(params)
    const { resolve, reject } = this.#waiting.get(id) ?? {}
    if (error) reject?.(new Error(error.message))
    else resolve?.(result)
  }

  #apply({ channel, action, origin, rejectionReason }) {
    if (origin?.clientId === this.clientId)
      this.#waiting.get(`own ${origin.clientSeq}`)?.resolve(rejectionReason)
    if (rejectionReason !== undefined || !this.states.has(channel)) return
    this.states.set(channel, reducers[channel](this.states.get(channel), action))
    for (const look of this.#watching) look()
  }
}

const textOf = ({ responseParts }) =>
  responseParts.at(-1).toolCall?.content?.at(-1)?.text ?? responseParts.at(-1).content

let host = await start()
const ann = await new Client('ann').enter(host, root)
await ann.ask('createSession', { channel: session, workingDirectories: [fileUri(work)] })
for (const channel of [session, chat]) await ann.follow(channel)
const ben = await new Client('ben').enter(host, session, chat)

await ann.say('run ls')
await ben.asked()
console.log(`Ben is asked as well: ${(await ben.asked()).invocationMessage}`)
await ben.approve({ editedToolInput: 'ls | wc -l' })
console.log(`He makes it "ls | wc -l", and both see what it says: ${textOf(await ann.rest(1))}`)
console.log(
  `Ann is too late: ${await ann.dispatch(chat, { type: 'chat/toolCallConfirmed', turnId: 'ann-5', toolCallId: 'x', approved: true, confirmed: 'user-action' })}`,
)

await ann.say('ask What is it called?')
const cat = await new Client('cat').enter(host, session)
await cat.until(() => cat.states.get(session).inputNeeded?.length === 1)
const [needed] = cat.states.get(session).inputNeeded
await cat.dispatch(needed.chat, {
  type: 'chat/inputCompleted',
  requestId: needed.request.id,
  response: 'accept',
  answers: { name: { state: 'submitted', value: { kind: 'text', value: 'Atrium' } } },
})
console.log(`Cat answers a form of a chat that she never opened: ${textOf(await ann.rest(2)).split('\n')[2]}`)

await ann.say('run echo once >> notes.txt')
await ann.asked()
await ann.queue('q1', 'say first')
await ann.queue('q2', 'say second')
host.child.kill('SIGKILL')
await once(host.child, 'exit')
host = await start()
const dan = await new Client('dan').enter(host, root, session, chat)
const { queuedMessages } = dan.states.get(chat)
console.log(
  `The host is killed and started again: it asks still, and ${queuedMessages.length} messages wait.`,
)
await dan.approve()
await dan.rest(5)
console.log(
  `Dan approves; it was done once: ${JSON.stringify(readFileSync(join(work, 'notes.txt'), 'utf8'))}`,
)
console.log(`Then the queue: ${dan.states.get(chat).turns.slice(-2).map(textOf).join(', ')}`)

await dan.say('read notes.txt')
await dan.approve({ selectedOptionId: 'atrium.folder' })
await dan.rest(6)
await dan.say('read notes.txt')
await dan.rest(7)
const listed = () => dan.states.get(root).config.values['atrium.permissions']
await dan.until(() => listed()?.length === 1)
const [{ tool, folder: where, by }] = listed()
console.log(
  `Allowed for good, and not asked again: ${tool} in ${where.endsWith('/work') ? 'work' : where}, by ${by}`,
)
await dan.dispatch(root, { type: 'root/configChanged', config: { 'atrium.permissions': [] } })
await dan.say('read notes.txt')
console.log(`Taken back, it is asked for again: ${(await dan.asked()).invocationMessage}`)

for (const { socket } of [ann, ben, cat, dan]) socket.close()
host.child.kill()
await once(host.child, 'exit')
rmSync(folder, { recursive: true, force: true })
