// A client that speaks one version of the protocol, and the start of a host, for the examples `every-version.mjs` and
// `failover.mjs`. Every message is written out, so that the versions can be compared.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { oracle } from '@atrium/protocol/oracles'
import { WebSocket } from 'ws'

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))

/** Starts the real host with these flags. Resolves with its process, its address and its token when it listens. */
export async function serve(flags, env = process.env) {
  const args = Object.entries({ port: '0', ...flags }).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, value],
  )
  const child = spawn(process.execPath, [atrium, 'serve', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env,
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

/** A client that speaks one version. It folds what it receives with the reducers of that version. */
export class Client {
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
    // The host may be killed later.
    this.socket.on('error', () => {})
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
    return this.ask('initialize', { protocolVersions: [this.version], clientId: this.clientId })
  }

  /** Subscribes to a channel. Returns its state. */
  async subscribe(kind, uri) {
    const { snapshot } = await this.ask('subscribe', this.hasChannels ? { channel: uri } : { resource: uri })
    this.#follow(kind, snapshot)
    return snapshot.state
  }

  #follow(kind, { resource, state, fromSeq }) {
    this.channels.set(resource, { kind, state, fromSeq })
    this.lastSeen = Math.max(this.lastSeen, fromSeq)
  }

  /** Finds a session in the list, under the URI that it has in this version, and follows it. */
  async open(title) {
    const { items } = await this.ask('listSessions')
    this.session = items.find((item) => item.title === title).resource
    const { defaultChat } = await this.subscribe('session', this.session)
    // Up to 0.3 the turns of a session are in the session itself.
    this.chat = this.hasChats ? defaultChat : this.session
    if (this.hasChats) await this.subscribe('chat', this.chat)
  }

  /** Comes back with what the client remembers. Resolves with the kind of the answer: a replay, or snapshots. */
  async reconnect(host) {
    await this.connect(host)
    const { clientId, lastSeen: lastSeenServerSeq } = this
    const subscriptions = [...this.channels.keys()]
    const result = await this.ask('reconnect', { clientId, lastSeenServerSeq, subscriptions })
    for (const envelope of result.actions ?? []) this.#apply(envelope)
    for (const snapshot of result.snapshots ?? [])
      this.#follow(this.channels.get(snapshot.resource).kind, snapshot)
    return result.type
  }

  dispatch(channel, action) {
    const clientSeq = ++this.#clientSeq
    if (this.hasChannels) this.#send('dispatchAction', { channel, clientSeq, action })
    else this.#send('dispatchAction', { clientSeq, action: { ...action, session: channel } })
  }

  /** Begins a turn, as a client of 0.4 or newer does. */
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

  get sessionState() {
    return this.channels.get(this.session).state
  }

  get chatState() {
    return this.channels.get(this.chat).state
  }

  get title() {
    return this.isFlat ? this.sessionState.title : this.sessionState.summary.title
  }

  /** The turns of a chat, with the active one. */
  turnsOf(chat) {
    const { turns, activeTurn } = this.channels.get(chat).state
    return activeTurn ? [...turns, activeTurn] : turns
  }

  get call() {
    const turn = this.turnsOf(this.chat).at(-1)
    return turn?.responseParts.find((part) => part.kind === 'toolCall')?.toolCall
  }
}
