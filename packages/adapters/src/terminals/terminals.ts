import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { isAbsolute } from 'node:path'
import type { spawn as Spawn } from '@lydell/node-pty'
import type { Start, TerminalOutput, Terminals } from '@atrium/host/ports/terminals'
import { limits as defaultLimits } from '@atrium/protocol/limits'
import type { LimitValues } from '@atrium/protocol/limits'
import { Emulator } from './emulator.ts'
import { shellEnvironment } from '../process/environment.ts'
import type { Variables } from '../process/environment.ts'
import { createIntegration } from './shell-integration.ts'
import { commandArgs, findShell } from './shell.ts'
import { directoryUri } from './osc-strings.ts'
import { Terminal, sizeWithin } from './terminal.ts'
import { Pty } from './pty.ts'
import { Watchdog } from '../process/watchdog.ts'

export interface PtyOptions {
  /** An absolute path. Default: the user's shell. */
  readonly shell?: string
  /** The environment of the host, of which some variables are passed on. */
  readonly env?: Variables
  readonly limits?: Partial<LimitValues>
  /** The watchdog that ends the shells, and its marker. Absent: the terminals have a watchdog of their own. */
  readonly processes?: { readonly watchdog: Watchdog; readonly mark: string }
}

/** Starts shells on real ptys of this machine. */
export function ptyTerminals(options: PtyOptions = {}): Terminals {
  const { env = process.env } = options
  const limits = { ...defaultLimits, ...options.limits }
  /**
   * The marker of this host. It is set in the environment of every shell, so that the watchdog recognizes the
   * processes.
   */
  const mark = options.processes?.mark ?? randomBytes(16).toString('hex')
  const emulator = new Emulator()
  let watchdog = options.processes?.watchdog

  const start = async (request: Start, emit: (output: TerminalOutput) => void) => {
    const { cwd, command } = request
    const size = sizeWithin(request, limits.terminalSide)
    await checkDirectory(cwd)
    const shell = findShell(options.shell, env)
    const { spawn } = await nodePty()
    watchdog ??= new Watchdog(mark)
    watchdog.wake()
    const dog = watchdog
    const integration = command === undefined ? createIntegration(shell, dog.folder, env) : undefined
    const args = command === undefined ? [...(integration?.args ?? [])] : commandArgs(shell, command)
    const variables = { ...shellEnvironment(env, { shell, marker: mark }), ...integration?.env }
    try {
      const terminal = new Terminal({
        spawn: (listener) =>
          new Pty(
            spawn(shell, args, { ...size, cwd, env: variables, encoding: null }),
            listener,
            limits.terminalTyped,
          ),
        emit,
        size,
        cwd: directoryUri(cwd) ?? '',
        osc: { hostname: hostname(), ...(integration && { nonce: integration.nonce }) },
        emulator,
        limits,
        onReady: () => integration?.remove(),
        onSessionEnd: () => dog.forget(terminal.pid),
      })
      dog.watch(terminal.pid)
      return terminal
    } catch (cause) {
      integration?.remove()
      throw new Error('the system could not start another terminal', { cause })
    }
  }

  return { start }
}

/**
 * Throws if the directory of a terminal cannot be used. Without this check, node-pty would start a program that ends
 * at once.
 */
async function checkDirectory(cwd: string): Promise<void> {
  if (!isAbsolute(cwd) || cwd.includes('\0'))
    throw new Error('the directory of a terminal must be an absolute path')
  const found = await stat(cwd).catch(() => undefined)
  if (!found?.isDirectory()) throw new Error('there is no such directory')
  await access(cwd, constants.X_OK).catch(() => {
    throw new Error('the directory cannot be entered')
  })
}

/** Loads node-pty. This is done on demand, because it is a native module that does not exist for every platform. */
async function nodePty(): Promise<{ readonly spawn: typeof Spawn }> {
  try {
    return await import('@lydell/node-pty')
  } catch (cause) {
    throw new Error('terminals are not available on this platform', { cause })
  }
}
