// A shell shared by two clients: Ann opens it and types, hands it to Ben, who is cut off, comes back to exactly what he
// missed, and ends it; both see how.
// Run: npm run build && node examples/terminal.mjs
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { reduceTerminal } from '@atrium/protocol/terminal/reducer'
import { WebSocket } from 'ws'

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'atrium-example-'))
const terminal = 'ahp-terminal:/shared'

/** Starts the real host; resolves when it listens. */
async function start() {
  const place = ['--data', join(folder, 'data'), '--default-directory', folder]
  const child = spawn(process.execPath, [atrium, 'serve', '--json', '--port', '0', ...place], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, SHELL: '/bin/bash' },
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

/** A client that follows one terminal: it folds what it is told over the snapshot it was handed. */
class Client {
  state = undefined
  lastSeen = 0
  #waiting = new Map()
  #watching = new Set()
  #ids = 0
  #clientSeq = 0

  constructor(clientId) {
    this.clientId = clientId
  }

  async connect({ url, token }) {
    this.socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
    await once(this.socket, 'open')
    this.socket.on('message', (data) => this.#hear(JSON.parse(data)))
    return this
  }

  async enter(host) {
    await this.connect(host)
    await this.ask('initialize', { protocolVersions: ['1.0.0'], clientId: this.clientId })
    return this
  }

  /** Comes back, and is told what it missed. */
  async comeBack(host) {
    await this.connect(host)
    const given = { clientId: this.clientId, lastSeenServerSeq: this.lastSeen, subscriptions: [terminal] }
    const { type, actions = [] } = await this.ask('reconnect', given)
    for (const envelope of actions) this.#apply(envelope)
    return type
  }

  async follow(channel) {
    const { snapshot } = await this.ask('subscribe', { channel })
    this.state = snapshot.state
    this.lastSeen = Math.max(this.lastSeen, snapshot.fromSeq)
  }

  ask(method, params) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(++this.#ids, { resolve, reject })
      this.#send({ id: this.#ids, method, params: { channel: 'ahp-root://', ...params } })
    })
  }

  /** Resolves with why it was refused, or with nothing. */
  dispatch(action) {
    const clientSeq = ++this.#clientSeq
    this.#send({ method: 'dispatchAction', params: { channel: terminal, clientSeq, action } })
    return new Promise((resolve) => this.#waiting.set(`own ${clientSeq}`, { resolve }))
  }

  type(line) {
    return this.dispatch({ type: 'terminal/input', data: `${line}\r` })
  }

  /** Resolves when the state is as wished. */
  until(wished) {
    return new Promise((resolve) => {
      const look = () => this.state && wished(this.state) && this.#watching.delete(look) && resolve()
      this.#watching.add(look)
      look()
    })
  }

  /** The output of a command that the shell has finished. */
  async ran(commandLine) {
    const find = ({ content }) => content.find((part) => part.commandLine === commandLine && part.isComplete)
    await this.until(find)
    return find(this.state)
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

  #apply({ channel, action, serverSeq, origin, rejectionReason }) {
    this.lastSeen = Math.max(this.lastSeen, serverSeq)
    if (origin?.clientId === this.clientId)
      this.#waiting.get(`own ${origin.clientSeq}`)?.resolve(rejectionReason)
    if (channel !== terminal || rejectionReason !== undefined || !this.state) return
    this.state = reduceTerminal(this.state, action)
    for (const look of this.#watching) look()
  }
}

const host = await start()
const ann = await new Client('ann').enter(host)
const ben = await new Client('ben').enter(host)
await ann.ask('createTerminal', { channel: terminal, claim: { kind: 'client', clientId: 'ann' } })
await Promise.all([ann.follow(terminal), ben.follow(terminal)])
await ann.until(({ supportsCommandDetection }) => supportsCommandDetection)
console.log('Ann has a shell, and Ben watches it.')

await ann.type('echo $((6 * 7))')
const answer = await ben.ran('echo $((6 * 7))')
console.log(
  `Ann types, Ben sees the command, its output ${answer.output.trim()} and its exit code ${answer.exitCode}.`,
)
console.log(`Ben types, too, and is refused: ${await ben.type('echo no')}.`)

await ann.dispatch({ type: 'terminal/claimed', claim: { kind: 'client', clientId: 'ben' } })
await ben.until(({ claim }) => claim.clientId === 'ben')
console.log('Ann hands the terminal to Ben.')
await ben.type('sleep 0.2; echo while you were away')
ben.socket.terminate()
await once(ben.socket, 'close')
await ann.ran('sleep 0.2; echo while you were away')
const how = await ben.comeBack(host)
const missed = await ben.ran('sleep 0.2; echo while you were away')
console.log(`Ben was cut off and comes back by ${how}: ${missed.output.trim()}.`)

await ben.type('exit 3')
await Promise.all([ann, ben].map((client) => client.until(({ lifecycle }) => lifecycle.status === 'exited')))
assert.deepEqual(ann.state, ben.state)
console.log(`Ben ends it, and both see how: exit ${ann.state.lifecycle.exitCode}. They have the same state.`)

for (const { socket } of [ann, ben]) socket.close()
host.child.kill()
await once(host.child, 'exit')
rmSync(folder, { recursive: true, force: true })
