// A client lends its tools and a plugin to a session. Ann publishes a plugin with a skill, a rule and an MCP server; the server
// runs after Ben has allowed it. Ann provides a tool; the agent uses it on Ann's side while Ben watches. Ann is cut off for 20 s
// and comes back, and the host is killed and started again, each time while the tool runs: the call is completed once. Then Ann
// vanishes for good: the call fails cleanly, and the programs of her plugin end.
// Run: npm run build && node examples/client-tools.mjs
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { connect, provideFiles, provideTools } from '@atrium/client'
import { WebSocket } from 'ws'

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'atrium-example-'))
const session = 'ahp-session:/tools'

/** Starts the real host. Resolves when the host listens. */
async function start(port) {
  const args = [atrium, 'serve', '--json', '--port', port, '--data', join(folder, 'data')]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

/** A WebSocket that the example can cut. A cut client cannot connect before it may again. */
class Wire extends WebSocket {
  static open = new Set()
  static isCut = false

  constructor(...options) {
    super(...options)
    if (Wire.isCut) this.terminate()
    Wire.open.add(this)
  }

  static cut() {
    Wire.isCut = true
    for (const socket of Wire.open) socket.terminate()
    Wire.open.clear()
  }
}

/** Ann's plugin. Its files exist only in this program. */
const plugin = { id: 'ann-kit', type: 'plugin', name: 'kit', uri: 'ann:/kit', nonce: '1' }
const files = {
  '.plugin/plugin.json': JSON.stringify({ name: 'kit' }),
  'skills/measuring/SKILL.md': '---\nname: measuring\ndescription: How to measure\n---\nMeasure twice.',
  'rules/units.mdc': '---\ndescription: Units\nalwaysApply: true\n---\nUse feet.',
  '.mcp.json': JSON.stringify({
    mcpServers: { rooms: { command: 'node', args: ['${PLUGIN_ROOT}/rooms.mjs'] } },
  }),
  'rooms.mjs': `
    import { createInterface } from 'node:readline'
    const tool = { name: 'rooms', description: 'Lists the rooms.', inputSchema: { type: 'object' } }
    const answers = {
      initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'rooms', version: '1' } }),
      'tools/list': () => ({ tools: [tool] }),
      'tools/call': () => ({ content: [{ type: 'text', text: 'kitchen, cellar' }] }),
    }
    for await (const line of createInterface({ input: process.stdin })) {
      const { id, method, params } = JSON.parse(line)
      if (id === undefined) continue
      const result = answers[method]?.(params)
      const answer = result ? { result } : { error: { code: -32601, message: 'no such method' } }
      console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
    }`,
}

let host = await start('0')
const { url, token } = host
const hostRequests = provideFiles(plugin.uri, files)
const ann = connect({ url, token, WebSocket: Wire, clientId: 'ann', hostRequests })
const ben = connect({ url, token, WebSocket, clientId: 'ben' })
await ann.ask('createSession', { channel: session, provider: 'guide' })
const shared = ben.subscribe('session', session)
const { defaultChat } = await shared.until((state) => state.defaultChat)
const chat = ben.subscribe('chat', defaultChat)
await chat.ready()

/** How often Ann's tool has run, and the function that lets the newest run end. */
let runs = 0
let finish = () => {}

const provided = provideTools(
  ann,
  session,
  [
    {
      name: 'measure',
      title: 'Measure',
      description: 'Measures the room that Ann is in.',
      inputSchema: { type: 'object', properties: { unit: { type: 'string' } } },
      run: ({ unit }, { show }) => {
        runs++
        show([{ type: 'text', text: 'Ann unrolls the tape.' }])
        return new Promise((resolve) => {
          finish = () => resolve(`12 ${String(unit)}`)
        })
      },
    },
  ],
  { displayName: 'Ann', customizations: [plugin] },
)
await provided.ready

/** Resolves with Ann's plugin as Ben sees it, once it satisfies the condition. */
async function kit(condition) {
  const find = ({ customizations = [] }) => customizations.find(({ id }) => id === plugin.id)
  const state = await shared.until((each) => find(each) && condition(find(each)))
  return find(state)
}

const { children, load } = await kit((each) => each.load?.kind === 'degraded')
console.log(`Ben sees Ann's plugin: ${children.map(({ type, name }) => `${type} ${name}`).join(', ')}`)
console.log(load.message)
const enablement = [{ kind: 'session', enabled: true }]
await shared.dispatch({ type: 'session/customizationToggled', id: plugin.id, enablement })
await kit((each) => each.load?.kind === 'loaded')

let turns = 0

/** Ben writes a message. Resolves with the id of its turn. */
async function say(text) {
  const turnId = `ben-${++turns}`
  const message = { text, origin: { kind: 'user' } }
  await chat.dispatch({ type: 'chat/turnStarted', turnId, startedAt: new Date().toISOString(), message })
  return turnId
}

/** Ben asks the guide to use the tool. Resolves when he sees that it runs at Ann's. */
async function use() {
  const turnId = await say('call measure {"unit": "feet"}')
  const shows = ({ activeTurn }) => activeTurn?.responseParts.at(-1)?.toolCall?.content?.[0]
  return { turnId, shown: shows(await chat.until(shows)).text }
}

/** Resolves with what Ben sees at the end of a turn: the call, and what the guide says about it. */
async function ended(turnId) {
  const state = await chat.until(({ turns: all }) => all.some(({ id }) => id === turnId))
  const [{ toolCall }, answer] = state.turns.find(({ id }) => id === turnId).responseParts
  return { success: toolCall.success, text: answer.content }
}

const zeroth = await say('call rooms {}')
const asks = ({ activeTurn }) =>
  activeTurn?.responseParts.find(({ toolCall }) => toolCall?.status === 'pending-confirmation')
const { toolCallId } = asks(await chat.until(asks)).toolCall
const approval = { approved: true, confirmed: 'user-action' }
await chat.dispatch({ type: 'chat/toolCallConfirmed', turnId: zeroth, toolCallId, ...approval })
console.log(`He allows its server and a call of it, and the guide says: ${(await ended(zeroth)).text}`)

const first = await use()
console.log(`Ben asks, and the tool runs at Ann's: ${first.shown}`)
finish()
console.log(`It is done, and the guide says: ${(await ended(first.turnId)).text}`)

const second = await use()
Wire.cut()
await new Promise((resolve) => ann.onLink(({ state }) => state !== 'live' && resolve()))
finish()
await new Promise((resolve) => setTimeout(resolve, 20_000))
Wire.isCut = false
// The network is back, so the client need not wait before its next attempt.
ann.connect()
console.log(
  `Ann is cut off for 20 s while it runs, and comes back: ${(await ended(second.turnId)).text}, after ${runs} runs of 2 calls`,
)

const third = await use()
host.child.kill('SIGKILL')
await once(host.child, 'exit')
host = await start(new URL(url).port)
await Promise.all([ann.live(), ben.live()])
const { activeTurn } = await chat.until((state) => state.activeTurn)
console.log(
  `The host is killed and started again: the call is ${activeTurn.responseParts.at(-1).toolCall.status}`,
)
finish()
console.log(`Ann completes it: ${(await ended(third.turnId)).text}, after ${runs} runs of 3 calls`)

const fourth = await use()
ann.close()
const { success, text } = await ended(fourth.turnId)
console.log(`Ann vanishes for good. After 30 s the call has failed (${success}): ${text}`)
await shared.until(({ customizations = [] }) => !customizations.some(({ id }) => id === plugin.id))
console.log('Her plugin has left the session with her, and its server with it.')

ben.close()
host.child.kill()
await once(host.child, 'exit')
rmSync(folder, { recursive: true, force: true })
