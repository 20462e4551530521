/** The worker of `emulator.ts`: one thread with an emulator for each terminal. */
import { parentPort } from 'node:worker_threads'
import headless from '@xterm/headless'
import type { Terminal } from '@xterm/headless'
import type { EmulatorInput, EmulatorOutput, ForgottenTerminal, Size } from './emulator.ts'

if (!parentPort) throw new Error('this file is the entry of a worker thread')
const port = parentPort

const terminals = new Map<number, Terminal>()

port.on('message', (input: EmulatorInput | ForgottenTerminal) => {
  if (input.updates) return void emulate(input).then(send)
  terminals.get(input.id)?.dispose()
  terminals.delete(input.id)
})

function send(output: EmulatorOutput): void {
  port.postMessage(output)
}

async function emulate({ id, size, updates }: EmulatorInput): Promise<EmulatorOutput> {
  const terminal = terminals.get(id) ?? open(id, size)
  let reply = ''
  const subscription = terminal.onData((data) => (reply += data))
  for (const update of updates)
    if (typeof update === 'string') await new Promise<void>((resolve) => terminal.write(update, resolve))
    else terminal.resize(update.cols, update.rows)
  subscription.dispose()
  return { id, reply }
}

function open(id: number, size: Size): Terminal {
  // Window reports other than the size in characters stay off: there is no window.
  const windowOptions = { getWinSizeChars: true }
  const terminal = new headless.Terminal({ ...size, scrollback: 0, allowProposedApi: true, windowOptions })
  terminals.set(id, terminal)
  return terminal
}
