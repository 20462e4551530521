import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { LineTransport } from './line-transport.ts'
import { redactor } from './redact.ts'
import { endSession, membersOf } from './process-group.ts'
import { hasFile } from './which.ts'
import type { Variables } from './environment.ts'
import { unrefTimer, withTimeout } from './timeout.ts'
import type { Watchdog } from './watchdog.ts'

export interface ProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly environment: { readonly [name: string]: string }
  /** Values that the program gets in other ways than by its environment. Secrets among these values are redacted too. */
  readonly otherSecrets?: Variables
  /** The memory limit for the process and all processes that it starts, together, in bytes. */
  readonly maxMemory: number
  /** The interval of memory checks, in milliseconds. */
  readonly memoryCheckMs?: number
  /** In characters. */
  readonly maxLineLength: number
  /** A clause that tells users what to do if there is no such program. */
  readonly missingHint: string
}

/**
 * The process of a program that speaks JSON-RPC in lines, such as an agent or an MCP server, with all processes that it
 * starts. The process leads a POSIX session. So all of these processes can be ended together, even if the command is only a
 * wrapper of the real program. If the host dies, the watchdog ends them.
 */
export class LineProcess {
  readonly lines: LineTransport
  /**
   * Resolves when the process has ended and its pipes are closed. The value is the reason as a clause for users, for example
   * `it ended with exit code 3`.
   */
  readonly ended: Promise<string>
  readonly #child: ChildProcess
  readonly #watchdog: Watchdog
  readonly #redact: (text: string) => string
  /** Text from stderr, and lines from stdout that are not JSON-RPC messages. */
  #diagnostics = ''
  #broken: string | undefined
  #stopMemoryChecks = () => {}

  constructor(options: ProcessOptions, watchdog: Watchdog) {
    const { command, args, cwd, environment, maxMemory, memoryCheckMs = 5000, maxLineLength } = options
    this.#watchdog = watchdog
    this.#redact = redactor({ ...environment, ...options.otherSecrets })
    watchdog.wake()
    const child = spawn(command, [...args], {
      cwd,
      env: { ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    this.#child = child
    if (child.pid !== undefined) watchdog.watch(child.pid)
    this.lines = new LineTransport(child.stdin, child.stdout, {
      maxLineLength,
      onStray: (line) => this.#addDiagnostics(`${line}\n`),
      onBroken: (problem) => void this.#endBroken(problem),
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#addDiagnostics(text))
    child.stderr.on('error', () => {})
    this.ended = new Promise((resolve) => {
      child.on('error', (error: NodeJS.ErrnoException) => resolve(this.#exit(spawnProblem(options, error))))
      // The event is `close` and not `exit`, because `close` comes after the last output was read.
      child.once('close', (code, signal) => resolve(this.#exit(exitReason(code, signal))))
    })
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    void exited.then(() => this.#endDescendants())
    // A process whose pipes are closed is useless, so it is ended. The delay lets a process that is about to exit do so by
    // itself.
    this.lines.closed.addEventListener('abort', () => {
      void withTimeout(unrefTimer, exitDelayMs, exited, () => {}).then(() => this.#endAndClosePipes())
    })
    this.#checkMemory(maxMemory, memoryCheckMs)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** The last diagnostic lines without secrets, the newest line at the end. They show users the reason for a failure. */
  get lastDiagnostics(): readonly string[] {
    const lines = this.#redact(this.#diagnostics).split('\n')
    const shortened = lines.map((line) => line.trimEnd().slice(0, maxDiagnosticLine))
    return shortened.filter((line) => line !== '').slice(-maxDiagnosticLines)
  }

  /**
   * Resolves with the last diagnostic lines when all that the program has written to stderr before is read. A message
   * that the program has sent after these lines may be read earlier, because it comes through another pipe.
   */
  async readDiagnostics(): Promise<readonly string[]> {
    // One iteration of the event loop may have read stderr before the lines were written. The next one reads them.
    for (let iterations = 0; iterations < 2; iterations++)
      await new Promise((resolve) => setImmediate(resolve))
    return this.lastDiagnostics
  }

  /** Ends the process and everything that it started. Resolves when no such process is left. */
  async end(): Promise<void> {
    await this.#endAndClosePipes()
    await this.ended
  }

  async #endBroken(problem: string): Promise<void> {
    this.#broken ??= problem
    await this.#endAndClosePipes()
  }

  async #endAndClosePipes(): Promise<void> {
    this.lines.close()
    await this.#endAll()
    // A process outside the POSIX session may hold the pipes open. So the host closes its ends.
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }

  /**
   * Ends the processes that the exited process has started. The pipes are not closed at once, because its last output
   * may still be in them.
   */
  async #endDescendants(): Promise<void> {
    await this.#endAll()
    // A process outside the POSIX session may hold the pipes open without writing. So the pipes are closed here after a
    // delay.
    const timer = setInterval(() => {
      if (!this.lines.paused) this.#child.stdout?.destroy()
      if (!this.lines.paused) this.#child.stderr?.destroy()
    }, exitDelayMs)
    void this.ended.then(() => clearInterval(timer))
  }

  async #endAll(): Promise<void> {
    const { pid } = this.#child
    if (pid === undefined) return
    if (process.platform === 'win32') this.#child.kill()
    else await endSession(pid, gracePeriodMs)
  }

  #exit(reason: string): string {
    this.#stopMemoryChecks()
    this.lines.close()
    if (this.#child.pid !== undefined) this.#watchdog.forget(this.#child.pid)
    return this.#broken ?? reason
  }

  #addDiagnostics(text: string): void {
    const all = this.#diagnostics + text
    // The text is cut at a line end, because a secret that is cut in two would not be redacted.
    this.#diagnostics =
      all.length <= maxDiagnostics
        ? all
        : all.slice(all.indexOf('\n', all.length - maxDiagnostics) + 1 || -maxDiagnostics)
  }

  #checkMemory(maxMemory: number, everyMs: number): void {
    const { pid } = this.#child
    if (pid === undefined || process.platform !== 'linux') return
    const timer = setInterval(() => {
      void sessionMemory(pid).then((used) => {
        if (used > maxMemory)
          void this.#endBroken(
            `it used ${gibibytes(used)} of memory, and the limit is ${gibibytes(maxMemory)}`,
          )
      })
    }, everyMs)
    timer.unref()
    this.#stopMemoryChecks = () => clearInterval(timer)
  }
}

const gracePeriodMs = 1500
const exitDelayMs = 500
/** In characters. */
const maxDiagnostics = 16_384
const maxDiagnosticLines = 12
const maxDiagnosticLine = 500

/**
 * Returns the anonymous memory of all processes of a POSIX session, in bytes. Shared memory is left out, because it would be
 * counted once per process.
 */
async function sessionMemory(leader: number): Promise<number> {
  const members = await membersOf(leader)
  const kilobytes = await Promise.all(
    members.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
      return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
    }),
  )
  return kilobytes.reduce((sum, each) => sum + each, 0) * 1024
}

function gibibytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`
}

function spawnProblem(
  { command, cwd, environment, missingHint }: ProcessOptions,
  { code }: NodeJS.ErrnoException,
): string {
  if (code === 'ENOENT' && !existsSync(cwd)) return `there is no folder ${JSON.stringify(cwd)}`
  // The system also reports EACCES if it may not search a folder of the PATH. If no folder of the PATH has a file of this
  // name, the program counts as missing.
  const missing = !command.includes('/') && !hasFile(command, environment['PATH'] ?? '')
  if (code === 'ENOENT' || (code === 'EACCES' && missing))
    return `there is no program ${JSON.stringify(command)}; ${missingHint}`
  if (code === 'EACCES') return `${JSON.stringify(command)} may not be run`
  return `${JSON.stringify(command)} could not be started (${code ?? 'unknown'})`
}

function exitReason(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `it ended with exit code ${code ?? 'unknown'}` : `it was ended by ${signal}`
}
