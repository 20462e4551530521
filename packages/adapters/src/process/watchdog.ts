import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { EffectTimer } from '@atrium/host/ports/effect-timer'
import { markerVariable } from './environment.ts'
import { LeaseCounts } from './lease-counts.ts'

/**
 * Ends the processes that terminals and agents have started when the host dies, even by SIGKILL (F-40d). The kernel's own
 * SIGHUP is not enough, because processes can ignore it. A small shell script (`watchdog.sh`) reads a pipe that only the host
 * holds open. When the pipe closes, the script ends all processes in the watched POSIX sessions. If `/proc` exists, the script
 * also ends processes that have left their session, and finds them by the host's marker in their environment. Then the script
 * exits. The script also counts for the lease of the host, if there is one: see `LeaseCounts`.
 */
export class Watchdog {
  #folder: string | undefined
  readonly #marker: string
  readonly #sessions = new Set<number>()
  #process: ChildProcess | undefined
  #counts: LeaseCounts | undefined

  constructor(marker: string) {
    this.#marker = marker
  }

  /** A folder for the start-up files of shells. The watchdog process removes the folder after the host has gone. */
  get folder(): string {
    return (this.#folder ??= mkdtempSync(join(tmpdir(), 'atrium-shells-')))
  }

  /**
   * Starts the watchdog process if it does not run. Must be called before any process that the watchdog must end is started.
   * Throws if this node has not renewed its lease in time. Another node may be the owner then, so no process may start here.
   */
  wake(): void {
    this.#counts?.check()
    this.#start()
  }

  #start(): void {
    if (process.platform === 'win32' || this.#process) return
    const child = spawn('/bin/sh', ['--', program, this.folder, `${markerVariable}=${this.#marker}`], {
      // The watchdog process leads a session of its own, so that a signal to the host's process group does not end it.
      detached: true,
      stdio: ['pipe', this.#counts ? 'pipe' : 'ignore', 'ignore'],
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
    })
    this.#process = child
    child.stdin?.on('error', () => undefined)
    child.once('error', () => this.#restart(child))
    child.once('exit', () => this.#restart(child))
    // The watchdog must not keep the host's event loop alive.
    child.unref()
    for (const pipe of [child.stdin, child.stdout]) if (pipe instanceof Socket) pipe.unref()
    if (child.stdout) createInterface(child.stdout).on('line', (mark) => this.#counts?.answered(mark))
    for (const session of this.#sessions) this.#send(`+${session}`)
    this.#counts?.restarted()
  }

  /**
   * Returns the timer that ends all watched processes this long after the lease was requested successfully for the last
   * time. Must be called before the watchdog process is started.
   */
  effectTimer(ms: number): EffectTimer {
    if (process.platform === 'win32')
      throw new Error(
        'a host that shares its store with others does not run on Windows: nothing there can end its agents in time',
      )
    return (this.#counts = new LeaseCounts(ms, {
      wake: () => this.#start(),
      send: (line) => this.#send(line),
    }))
  }

  watch(session: number): void {
    this.#sessions.add(session)
    this.#send(`+${session}`)
  }

  /** Removes an ended POSIX session from the list, because the system may reuse its number. */
  forget(session: number): void {
    if (this.#sessions.delete(session)) this.#send(`-${session}`)
  }

  #send(line: string): void {
    const stdin = this.#process?.stdin
    if (stdin?.writable) stdin.write(`${line}\n`)
  }

  /** Starts a new watchdog process after the old one was killed, unless there is nothing to watch. */
  #restart(child: ChildProcess): void {
    if (this.#process !== child) return
    this.#process = undefined
    this.#counts?.ended()
    if (this.#sessions.size > 0 || this.#counts?.isRunning) setTimeout(() => this.#start(), 100).unref()
  }
}

const program = fileURLToPath(new URL('../../src/process/watchdog.sh', import.meta.url))
