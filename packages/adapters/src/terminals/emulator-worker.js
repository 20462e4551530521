/**
 * The worker of `emulator.ts`: one thread with an emulator for each terminal. Plain JavaScript, because vitest on Node 20
 * cannot start a worker written in TypeScript.
 */
import { parentPort } from 'node:worker_threads'
import headless from '@xterm/headless'

/** @typedef {import('./emulator.ts').EmulatorInput} EmulatorInput */

if (!parentPort) throw new Error('this file is the entry of a worker thread')
const port = parentPort

/** @type {Map<number, import('@xterm/headless').Terminal>} */
const terminals = new Map()

port.on('message', (/** @type {EmulatorInput} */ input) => {
  if (input.updates) return void emulate(input).then((reply) => port.postMessage({ id: input.id, reply }))
  terminals.get(input.id)?.dispose()
  terminals.delete(input.id)
})

/** @param {EmulatorInput} input */
async function emulate({ id, size, updates = [] }) {
  const terminal = terminals.get(id) ?? open(id, size)
  let reply = ''
  const subscription = terminal.onData((data) => (reply += data))
  for (const update of updates)
    if (typeof update === 'string')
      await new Promise((resolve) => terminal.write(update, () => resolve(undefined)))
    else terminal.resize(update.cols, update.rows)
  subscription.dispose()
  return reply
}

/** @param {number} id @param {import('./emulator.ts').Size} size */
function open(id, size) {
  // Window reports other than the size in characters stay off: there is no window.
  const windowOptions = { getWinSizeChars: true }
  const terminal = new headless.Terminal({ ...size, scrollback: 0, allowProposedApi: true, windowOptions })
  terminals.set(id, terminal)
  return terminal
}
