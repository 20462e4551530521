import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Lines } from './line-transport.ts'
import { scrubber } from './redact.ts'
import { endSession, membersOf } from '../../process/process-group.ts'
import { hasFile } from '../../process/which.ts'
import type { Variables } from '../../process/environment.ts'
import type { Watchdog } from '../../process/watchdog.ts'

export interface Starting {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly environment: { readonly [name: string]: string }
  /** What else it is given: of that, too, nothing secret is in its last words. */
  readonly given?: Variables
  /** What all its processes may hold together, in bytes. */
  readonly memory: number
  /** How often that is looked at, in milliseconds. */
  readonly memoryEveryMs?: number
  readonly longestLine: number
}

/** How an agent's process ended. */
export interface Ended {
  /** In words for people. */
  readonly how: string
  /** Whether it was asked to. */
  readonly wished: boolean
}

/**
 * The process of an agent, with all that it starts: it leads a session of its own, so that nothing of it outlives it, whatever it
 * is a wrapper for; and the watchdog ends it should the host die.
 */
export class AgentProcess {
  readonly lines: Lines
  /** Resolves when it has gone. */
  readonly ended: Promise<Ended>
  readonly #child: ChildProcess
  readonly #watchdog: Watchdog
  readonly #scrub: (text: string) => string
  #words = ''
  #broken: string | undefined
  #wished = false
  #undoWatching = () => {}

  constructor(starting: Starting, watchdog: Watchdog) {
    const { command, args, cwd, environment, memory, memoryEveryMs = 5000, longestLine } = starting
    this.#watchdog = watchdog
    this.#scrub = scrubber({ ...environment, ...starting.given })
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
    this.lines = new Lines(child.stdin, child.stdout, {
      most: longestLine,
      stray: (line) => this.#hear(`${line}\n`),
      broken: (problem) => void this.#break(problem),
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#hear(text))
    child.stderr.on('error', () => {})
    this.ended = new Promise((resolve) => {
      child.on('error', (error: NodeJS.ErrnoException) => resolve(this.#over(startProblem(starting, error))))
      // Not `exit`: what it wrote last shall be read first.
      child.once('close', (code, signal) => resolve(this.#over(endOf(code, signal))))
    })
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    void exited.then(() => this.#leaveNothing())
    // Nothing can be said to it any more, and nothing heard: it may be about to end by itself.
    this.lines.closed.addEventListener('abort', () => {
      void Promise.race([exited, sleep(partingMs, undefined, { ref: false })]).then(() => this.#sweep())
    })
    this.#watchMemory(memory, memoryEveryMs)
  }

  /** What it said beside the protocol, the newest last: for people who look for a reason. */
  get lastWords(): readonly string[] {
    const lines = this.#scrub(this.#words).split('\n')
    const words = lines.map((line) => line.trimEnd().slice(0, longestWord))
    return words.filter((line) => line !== '').slice(-mostLines)
  }

  /** Ends all of it; resolves when none is left. */
  async end(): Promise<void> {
    this.#wished = true
    await this.#sweep()
    await this.ended
  }

  async #break(problem: string): Promise<void> {
    this.#broken ??= problem
    await this.#sweep()
  }

  async #sweep(): Promise<void> {
    this.lines.close()
    await this.#endAll()
    // A pipe that somebody unknown holds must not keep us.
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }

  /** It has gone, and what it started goes too. What it wrote last is still on its way. */
  async #leaveNothing(): Promise<void> {
    await this.#endAll()
    // Somebody outside its session may hold its pipes, and say nothing: that is no reason to wait for ever.
    const timer = setInterval(() => {
      if (!this.lines.held) this.#child.stdout?.destroy()
      if (!this.lines.held) this.#child.stderr?.destroy()
    }, partingMs)
    void this.ended.then(() => clearInterval(timer))
  }

  async #endAll(): Promise<void> {
    const { pid } = this.#child
    if (pid === undefined) return
    if (process.platform === 'win32') this.#child.kill()
    else await endSession(pid, graceMs)
  }

  #over(how: string): Ended {
    this.#undoWatching()
    this.lines.close()
    if (this.#child.pid !== undefined) this.#watchdog.forget(this.#child.pid)
    return { how: this.#broken ?? how, wished: this.#wished }
  }

  #hear(text: string): void {
    const all = this.#words + text
    // What is cut off is so between two lines: the rest of a secret is not known for one.
    this.#words =
      all.length <= mostWords ? all : all.slice(all.indexOf('\n', all.length - mostWords) + 1 || -mostWords)
  }

  #watchMemory(most: number, everyMs: number): void {
    const { pid } = this.#child
    if (pid === undefined || process.platform !== 'linux') return
    const timer = setInterval(() => {
      void memoryOf(pid).then((held) => {
        if (held > most)
          void this.#break(`it held ${gigabytes(held)} of memory, and ${gigabytes(most)} are allowed`)
      })
    }, everyMs)
    timer.unref()
    this.#undoWatching = () => clearInterval(timer)
  }
}

const graceMs = 1500
const partingMs = 500
const mostWords = 16_384
const mostLines = 12
const longestWord = 500

/** What several share is counted once only by not counting it at all. */
async function memoryOf(leader: number): Promise<number> {
  const members = await membersOf(leader)
  const kilobytes = await Promise.all(
    members.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
      return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
    }),
  )
  return kilobytes.reduce((sum, each) => sum + each, 0) * 1024
}

function gigabytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`
}

function startProblem({ command, cwd, environment }: Starting, { code }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' && !existsSync(cwd)) return `there is no folder ${JSON.stringify(cwd)}`
  // The system also says EACCES where a folder of the PATH may not be searched, and holds no such program for all we know.
  const missing = !command.includes('/') && !hasFile(command, environment['PATH'] ?? '')
  if (code === 'ENOENT' || (code === 'EACCES' && missing))
    return `there is no program ${JSON.stringify(command)}; install it, or name its command under "agents" in the config`
  if (code === 'EACCES') return `${JSON.stringify(command)} may not be run`
  return `${JSON.stringify(command)} could not be started (${code ?? 'unknown'})`
}

function endOf(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `it ended with exit code ${code ?? 'unknown'}` : `it was ended by ${signal}`
}
