import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { isAbsolute } from 'node:path'
import type { spawn as Spawn } from '@lydell/node-pty'
import type { Start, TerminalOutput, Terminals } from '@atrium/host/ports/terminals'
import { limits as usual } from '@atrium/protocol/limits'
import type { LimitValues } from '@atrium/protocol/limits'
import { Emulator } from './emulator.ts'
import { environmentOf } from '../process/environment.ts'
import type { Variables } from '../process/environment.ts'
import { integrationOf } from './shell-integration.ts'
import { lineArgs, shellOf } from './shell.ts'
import { directoryUri } from './osc-strings.ts'
import { Terminal, sizeWithin } from './terminal.ts'
import { Tty } from './pty.ts'
import { Watchdog } from '../process/watchdog.ts'

export interface PtyOptions {
  /** An absolute path; else the user's own shell. */
  readonly shell?: string
  /** What the host was started with: some of it is passed on. */
  readonly env?: Variables
  readonly limits?: Partial<LimitValues>
}

/** Shells on real ptys of this machine. */
export function ptyTerminals(options: PtyOptions = {}): Terminals {
  const { env = process.env } = options
  const limits = { ...usual, ...options.limits }
  const mark = randomBytes(16).toString('hex')
  const emulator = new Emulator()
  let watchdog: Watchdog | undefined

  const start = async (wish: Start, say: (said: TerminalOutput) => void) => {
    const { cwd, command } = wish
    const size = sizeWithin(wish, limits.terminalSide)
    await mayBeIn(cwd)
    const shell = shellOf(options.shell, env)
    const { spawn } = await nodePty()
    watchdog ??= new Watchdog(mark)
    watchdog.wake()
    const dog = watchdog
    const given = command === undefined ? integrationOf(shell, dog.folder, env) : undefined
    const args = command === undefined ? [...(given?.args ?? [])] : lineArgs(shell, command)
    const variables = { ...environmentOf(env, { shell, mark }), ...given?.env }
    try {
      const terminal = new Terminal({
        begin: (heard) =>
          new Tty(
            spawn(shell, args, { ...size, cwd, env: variables, encoding: null }),
            heard,
            limits.terminalTyped,
          ),
        say,
        size,
        cwd: directoryUri(cwd) ?? '',
        trust: { hostname: hostname(), ...(given && { nonce: given.nonce }) },
        emulator,
        limits,
        ready: () => given?.remove(),
        over: () => dog.forget(terminal.pid),
      })
      dog.watch(terminal.pid)
      return terminal
    } catch (cause) {
      given?.remove()
      throw new Error('the system could not start another terminal', { cause })
    }
  }

  return { start }
}

/** In words for people: node-pty would only start something that ends at once. */
async function mayBeIn(cwd: string): Promise<void> {
  if (!isAbsolute(cwd) || cwd.includes('\0')) throw new Error('a terminal needs an absolute directory')
  const found = await stat(cwd).catch(() => undefined)
  if (!found?.isDirectory()) throw new Error('there is no such directory')
  await access(cwd, constants.X_OK).catch(() => {
    throw new Error('the directory cannot be entered')
  })
}

/** Only when it is needed: it is native, and not there for every machine. */
async function nodePty(): Promise<{ readonly spawn: typeof Spawn }> {
  try {
    return await import('@lydell/node-pty')
  } catch (cause) {
    throw new Error('there are no terminals on this kind of machine', { cause })
  }
}
