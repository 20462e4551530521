import { spawnSync } from 'node:child_process'
import type { IPty } from '@lydell/node-pty'
import type { TerminalOutput } from '@atrium/host/ports/terminals'
import { limits } from '@atrium/protocol/limits'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Emulator } from './emulator.ts'
import { Pty } from './pty.ts'
import { Terminal } from './terminal.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A terminal whose program writes what the test says. `emitted` is what was emitted, one text for each action. */
function typing(pid = 1) {
  let write: (bytes: Buffer) => void = () => undefined
  const emitted: string[] = []
  const exits: TerminalOutput[] = []
  let sessionEnded = () => {}
  const sessionEnd = new Promise<void>((resolve) => (sessionEnded = resolve))
  const program = {
    pid,
    onData: (listener: (bytes: Buffer) => void) => void (write = listener),
    onExit: () => undefined,
    write: () => undefined,
    resume: () => undefined,
  }
  const terminal = new Terminal({
    // The cast stands for the members of a pty that this test does not reach.
    spawn: (listener) => new Pty(program as unknown as IPty, listener, limits.terminalTyped),
    emit: (output: TerminalOutput) => {
      if (output.type === 'terminal/data') emitted.push(output.data)
      if (output.type === 'terminal/exited') exits.push(output)
    },
    size: { cols: 80, rows: 24 },
    cwd: 'file:///',
    osc: { hostname: 'here' },
    emulator: new Emulator(),
    limits,
    onReady: () => undefined,
    onSessionEnd: sessionEnded,
  })
  /** The program writes, and then the event loop turns once. */
  const says = (text: string) => {
    write(Buffer.from(text))
    vi.advanceTimersByTime(0)
  }
  return { terminal, says, emitted, exits, sessionEnd }
}

test('[M1.3] output after a quiet time is emitted at once; more output waits, and is emitted together', () => {
  const { says, emitted } = typing()
  says('a')
  expect(emitted).toEqual(['a'])
  vi.advanceTimersByTime(3)
  says('b')
  says('c')
  expect(emitted).toEqual(['a'])
  vi.advanceTimersByTime(1)
  expect(emitted).toEqual(['a', 'bc'])
})

test('[M1.3] the first output after an input is emitted at once, whatever was emitted before; the second waits', () => {
  const { terminal, says, emitted } = typing()
  for (const key of ['x', 'y', 'z']) {
    terminal.input(key)
    says(key)
  }
  expect(emitted).toEqual(['x', 'y', 'z'])
  says('!')
  expect(emitted).toEqual(['x', 'y', 'z'])
  terminal.input('.')
  says('.')
  expect(emitted).toEqual(['x', 'y', 'z', '!.'])
})

test('[M1.3] output that fills an action is emitted at once', () => {
  const { says, emitted } = typing()
  says('a')
  says('b'.repeat(limits.terminalData))
  expect(emitted).toHaveLength(2)
})

test('[M8.1] a terminal ends even if the system does not report the exit of its program', async () => {
  // The pid of a process that has ended, so that nobody gets a signal.
  const { pid } = spawnSync('true')
  const { terminal, says, emitted, exits, sessionEnd } = typing(pid)
  const ended = terminal.end()
  await sessionEnd
  says('last words')
  await vi.advanceTimersByTimeAsync(29_000)
  expect(exits).toEqual([])
  await vi.advanceTimersByTimeAsync(1000)
  await ended
  expect(emitted).toEqual(['last words'])
  expect(exits).toEqual([{ type: 'terminal/exited' }])
})
