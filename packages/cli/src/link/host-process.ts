import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { withAbsolutePaths } from '../serve/config.ts'
import type { Settings } from '../serve/config-fields.ts'
import { isRunning } from '../serve/discovery.ts'
import { CommandError, exits, systemCode } from '../terminal/exit.ts'

/**
 * A host that this command starts in the background. Several commands may start a host at the same moment, and only
 * one of these hosts gets the store. So each host writes to a log of its own. Once it is known that this host has the
 * store, its log is renamed to `host.log`.
 */
export class HostProcess {
  readonly #data: string
  readonly #ownLog: string
  readonly #child: ChildProcess
  #exit: number | undefined
  #problem: string | undefined

  constructor({ data, logLevel = 'warn' }: Settings) {
    this.#data = data
    this.#ownLog = join(data, `host-${process.pid}.log`)
    const log = openSync(this.#ownLog, 'w', 0o600)
    const args = [process.argv[1] ?? '', 'serve', '--data', data, '--log-level', logLevel]
    // The host works in its data folder, because the folder of the user's shell may be removed while the host runs.
    const env = withAbsolutePaths(process.env)
    const stdio = ['ignore' as const, log, log]
    this.#child = spawn(process.execPath, args, { detached: true, stdio, cwd: data, env })
    closeSync(log)
    this.#child.once('exit', (code) => void (this.#exit = code ?? exits.error))
    this.#child.once('error', (error) => {
      this.#exit = exits.error
      this.#problem = error.message
    })
  }

  /** Whether this host has ended because another process uses the store. */
  get isRefused(): boolean {
    return this.#exit === exits.inUse
  }

  get hasFailed(): boolean {
    return this.#exit !== undefined && !this.isRefused
  }

  /**
   * Called when a host with the process id `pid` answers. If it is the host of this command, its log becomes
   * `host.log`. If another command has started it, the log of this command's own host is deleted.
   */
  answers(pid: number): void {
    this.#child.unref()
    if (pid === this.#child.pid) this.#publishLog()
    else rmSync(this.#ownLog, { force: true })
  }

  /** Ends the process if it still runs. Returns the error that says why the host could not be started. */
  failure(): CommandError {
    if (this.#exit === undefined) this.#child.kill()
    const lines = textOf(this.#ownLog).trim().split('\n')
    const reason =
      this.#problem ?? lines.findLast((line) => line.startsWith('atrium: '))?.slice('atrium: '.length)
    const why = reason === undefined ? '' : `: ${reason}`
    return new CommandError(`The host could not be started${why} (its log: ${this.#publishLog()})`)
  }

  /** Names the log `host.log`, and keeps the log of the last host as `host.log.1`. Returns the path of `host.log`. */
  #publishLog(): string {
    const path = join(this.#data, 'host.log')
    renameIfPresent(path, `${path}.1`)
    renameIfPresent(this.#ownLog, path)
    // Removes the logs of commands that were killed while they started a host. The name has the process id of the
    // command.
    for (const name of readdirSync(this.#data)) {
      const [, pid] = /^host-(\d+)\.log$/.exec(name) ?? []
      if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(this.#data, name), { force: true })
    }
    return path
  }
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** Renames a file if it is there. There is no look before: another command may rename it at the same moment. */
function renameIfPresent(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}
