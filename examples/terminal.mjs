// Two clients share a shell. Ann opens it, types, and hands it to Ben. Ben loses his connection, and after a reconnect gets
// exactly the actions that he missed. Then Ben ends the shell, and both clients see its exit code.
// Run: npm run build && node examples/terminal.mjs
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { connect } from '@atrium/client'
import { WebSocket } from 'ws'

const atrium = fileURLToPath(new URL('../packages/cli/bin/atrium.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'atrium-example-'))
const terminal = 'ahp-terminal:/shared'

/** Starts the real host. Resolves when the host listens. */
async function start() {
  const place = ['--data', join(folder, 'data'), '--default-directory', folder]
  const child = spawn(process.execPath, [atrium, 'serve', '--json', '--port', '0', ...place], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, SHELL: '/bin/bash' },
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, ...JSON.parse(line) }
}

/** Ben's network, which the example can cut: his socket ends, and no new socket opens. */
let socket
let isCut = false
class BensSocket extends WebSocket {
  constructor(url) {
    if (isCut) throw new Error('there is no network')
    super(url)
    socket = this
  }
}

const type = (shell, line) => shell.dispatch({ type: 'terminal/input', data: `${line}\r` })

/** Waits until the shell has finished a command. Returns the command with its output and exit code. */
async function ran(shell, commandLine) {
  const find = ({ content }) => content.find((part) => part.commandLine === commandLine && part.isComplete)
  return find(await shell.until(find))
}

const host = await start()
const { url, token } = host
const ann = connect({ url, token, WebSocket, clientId: 'ann' })
const ben = connect({ url, token, WebSocket: BensSocket, clientId: 'ben' })
await ann.ask('createTerminal', { channel: terminal, claim: { kind: 'client', clientId: 'ann' } })
const annsShell = ann.subscribe('terminal', terminal)
const bensShell = ben.subscribe('terminal', terminal)
await bensShell.ready()
await annsShell.until(({ supportsCommandDetection }) => supportsCommandDetection)
console.log('Ann has a shell, and Ben watches it.')

await type(annsShell, 'echo $((6 * 7))')
const answer = await ran(bensShell, 'echo $((6 * 7))')
console.log(
  `Ann types, Ben sees the command, its output ${answer.output.trim()} and its exit code ${answer.exitCode}.`,
)
console.log(`Ben types, too, and is refused: ${(await type(bensShell, 'echo no')).reason}.`)

await annsShell.dispatch({ type: 'terminal/claimed', claim: { kind: 'client', clientId: 'ben' } })
await bensShell.until(({ claim }) => claim.clientId === 'ben')
console.log('Ann hands the terminal to Ben.')
// The command says nothing before there is a file, and this program writes the file after Ben was cut off.
const waiting = 'until [ -e gone ]; do sleep 0.1; done; echo while you were away'
await type(bensShell, waiting)
isCut = true
socket.terminate()
writeFileSync(join(folder, 'gone'), '')
await ran(annsShell, waiting)
// A replay calls `onAction` for every missed action. A snapshot does not call it.
let how = 'snapshot'
ben.onAction(({ action }) => action.type === 'terminal/commandFinished' && (how = 'replay'))
isCut = false
ben.connect()
const missed = await ran(bensShell, waiting)
console.log(`Ben was cut off and comes back by ${how}: ${missed.output.trim()}.`)

await type(bensShell, 'exit 3')
const shells = [annsShell, bensShell]
await Promise.all(shells.map((shell) => shell.until(({ lifecycle }) => lifecycle.status === 'exited')))
assert.deepEqual(annsShell.state, bensShell.state)
const { exitCode } = annsShell.state.lifecycle
console.log(`Ben ends it, and both see how: exit ${exitCode}. They have the same state.`)

for (const client of [ann, ben]) client.close()
host.child.kill()
await once(host.child, 'exit')
rmSync(folder, { recursive: true, force: true })
