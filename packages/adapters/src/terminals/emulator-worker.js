/**
 * The emulators that answer what programs ask their terminals, a thread for all of them. Plain JavaScript, because a
 * worker of TypeScript does not start under vitest on Node 20.
 */
import { parentPort } from 'node:worker_threads'
import headless from '@xterm/headless'

/** @typedef {import('./emulator.ts').Fed} Fed */

if (!parentPort) throw new Error('this file is the entry of a worker')
const port = parentPort

/** @type {Map<number, import('@xterm/headless').Terminal>} */
const screens = new Map()

port.on('message', (/** @type {Fed} */ fed) => {
  if (fed.items) return void answer(fed).then((reply) => port.postMessage({ id: fed.id, reply }))
  screens.get(fed.id)?.dispose()
  screens.delete(fed.id)
})

/** @param {Fed} fed */
async function answer({ id, size, items = [] }) {
  const screen = screens.get(id) ?? open(id, size)
  let reply = ''
  const heard = screen.onData((data) => (reply += data))
  for (const item of items)
    if (typeof item === 'string') await new Promise((resolve) => screen.write(item, () => resolve(undefined)))
    else screen.resize(item.cols, item.rows)
  heard.dispose()
  return reply
}

/** @param {number} id @param {import('./emulator.ts').Size} size */
function open(id, size) {
  // Of its window only the size in characters is known.
  const windowOptions = { getWinSizeChars: true }
  const screen = new headless.Terminal({ ...size, scrollback: 0, allowProposedApi: true, windowOptions })
  screens.set(id, screen)
  return screen
}
