// A client lends its tools to a session. Ann provides a tool; the agent uses it on Ann's side while Ben watches. Ann is cut off
// and comes back, and the host is killed and started again, each time while the tool runs: the call is completed once. Then Ann
// vanishes for good, and the call fails cleanly.
// Run: npm run build && node examples/client-tools.mjs
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { connect, provideTools } from '@atrium/client'
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

let host = await start('0')
const { url, token } = host
const ann = connect({ url, token, WebSocket: Wire, clientId: 'ann' })
const ben = connect({ url, token, WebSocket, clientId: 'ben' })
await ann.ask('createSession', { channel: session, provider: 'guide' })
const { defaultChat } = await ben.subscribe('session', session).until((state) => state.defaultChat)
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
  { displayName: 'Ann' },
)
await provided.ready

let turns = 0

/** Ben asks the guide to use the tool. Resolves when he sees that it runs at Ann's. */
async function use() {
  const turnId = `ben-${++turns}`
  const message = { text: 'call measure {"unit": "feet"}', origin: { kind: 'user' } }
  await chat.dispatch({ type: 'chat/turnStarted', turnId, startedAt: new Date().toISOString(), message })
  const shows = ({ activeTurn }) => activeTurn?.responseParts.at(-1)?.toolCall?.content?.[0]
  return { turnId, shown: shows(await chat.until(shows)).text }
}

/** Resolves with what Ben sees at the end of a turn: the call, and what the guide says about it. */
async function ended(turnId) {
  const state = await chat.until(({ turns: all }) => all.some(({ id }) => id === turnId))
  const [{ toolCall }, answer] = state.turns.find(({ id }) => id === turnId).responseParts
  return { success: toolCall.success, text: answer.content }
}

const first = await use()
console.log(`Ben asks, and the tool runs at Ann's: ${first.shown}`)
finish()
console.log(`It is done, and the guide says: ${(await ended(first.turnId)).text}`)

const second = await use()
Wire.cut()
await new Promise((resolve) => ann.onLink(({ state }) => state !== 'live' && resolve()))
finish()
Wire.isCut = false
console.log(
  `Ann is cut off while it runs, and comes back: ${(await ended(second.turnId)).text}, after ${runs} runs of 2 calls`,
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

ben.close()
host.child.kill()
await once(host.child, 'exit')
rmSync(folder, { recursive: true, force: true })
