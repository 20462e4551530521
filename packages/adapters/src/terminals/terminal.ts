import { StringDecoder } from 'node:string_decoder'
import type { Shell, TerminalOutput } from '@atrium/host/ports/terminals'
import type { LimitValues } from '@atrium/protocol/limits'
import { CommandMarks } from './command-marks.ts'
import type { Emulator, Size } from './emulator.ts'
import type { OscOptions } from './osc-strings.ts'
import type { OutputPart } from './output-part.ts'
import { QueryReplies } from './query-replies.ts'
import { endSession } from '../process/process-group.ts'
import { Sanitizer } from './sanitize.ts'
import type { Pty, PtyListener } from './pty.ts'
import { ThrottledValue } from './throttled-value.ts'

export interface TerminalOptions {
  /** Starts the program; the listener receives its output from then on. */
  readonly spawn: (listener: PtyListener) => Pty
  readonly emit: (output: TerminalOutput) => void
  readonly size: Size
  /** The URI of the directory in which the program starts. */
  readonly cwd: string
  readonly osc: Pick<OscOptions, 'nonce' | 'hostname'>
  readonly emulator: Emulator
  readonly limits: LimitValues
  /** Called when the shell has shown its first prompt, and when it exits. */
  readonly onReady: () => void
  /** Called when no process of the terminal's session runs any more. */
  readonly onSessionEnd: () => void
}

/** One shell or command. Its output is sanitized and emitted as actions, in batches. */
export class Terminal implements Shell {
  readonly #options: TerminalOptions
  readonly #pty: Pty
  readonly #decoder = new StringDecoder('utf8')
  readonly #sanitizer: Sanitizer
  readonly #replies: QueryReplies
  readonly #commands: CommandMarks
  readonly #title: ThrottledValue
  readonly #cwd: ThrottledValue
  readonly #exitEmitted: Promise<void>
  #resolveExitEmitted: () => void = () => undefined
  #buffered: Buffer[] = []
  #bufferedBytes = 0
  /** The exit of the program. Absent while it runs. Its code is undefined if the system reported no exit in time. */
  #exit: { readonly code: number | undefined } | undefined
  #hasExited = false
  #sessionEnd: Promise<void> | undefined
  #paused = false
  #lastBatch = -Infinity
  /** Whether there was input after the last batch. */
  #answersInput = false
  #scheduled: 'now' | 'delayed' | undefined
  #delay: NodeJS.Timeout | undefined

  constructor(options: TerminalOptions) {
    const { spawn, emit, size, cwd, osc, emulator, limits } = options
    const { terminalFactMs } = limits
    this.#options = options
    this.#sanitizer = new Sanitizer({ ...osc, titleLength: limits.terminalTitle }, limits.terminalSequence)
    this.#replies = new QueryReplies(emulator, size, limits, (reply) => this.#pty.write(reply))
    this.#commands = new CommandMarks(emit, limits)
    this.#title = new ThrottledValue(
      (title) => emit({ type: 'terminal/titleChanged', title }),
      terminalFactMs,
    )
    this.#cwd = new ThrottledValue(
      (uri) => emit({ type: 'terminal/cwdChanged', cwd: uri }),
      terminalFactMs,
      cwd,
    )
    this.#exitEmitted = new Promise((resolve) => (this.#resolveExitEmitted = resolve))
    this.#pty = spawn({
      data: (bytes) => {
        this.#buffered.push(bytes)
        this.#bufferedBytes += bytes.length
        this.#scheduleBatch()
      },
      orphaned: () => void this.#endSession().then(() => this.#pty.close()),
      exited: (exitCode) => {
        this.#exit ??= { code: exitCode }
        this.#scheduleBatch()
      },
    })
  }

  get pid(): number {
    return this.#pty.pid
  }

  input(data: string): void {
    this.#answersInput = true
    this.#pty.write(data)
  }

  resize(cols: number, rows: number): void {
    const size = sizeWithin({ cols, rows }, this.#options.limits.terminalSide)
    this.#pty.resize(size.cols, size.rows)
    this.#replies.resize(size.cols, size.rows)
  }

  pause(): void {
    this.#paused = true
    this.#pty.pause()
  }

  resume(): void {
    this.#paused = false
    this.#pty.resume()
    this.#scheduleBatch()
  }

  /** Ends the program and its session. Output written until then is still emitted. */
  async end(): Promise<void> {
    this.resume()
    if (process.platform === 'win32') this.#pty.kill('SIGHUP')
    await this.#endSession()
    // A process that has left the session may hold the pty for ever. So the pty is closed here.
    this.#pty.close()
    // A killed process that is in an uninterruptible system call exits only when the call returns, which may be never.
    // So this wait has a limit.
    const late = setTimeout(() => {
      this.#exit ??= { code: undefined }
      this.#emitBatch()
    }, exitTimeoutMs)
    await this.#exitEmitted
    clearTimeout(late)
    await this.#sessionEnd
  }

  /** Ends the session only once: later, the process id may belong to another process. */
  #endSession(): Promise<void> {
    const { limits, onSessionEnd } = this.#options
    this.#sessionEnd ??= endSession(this.pid, limits.terminalGraceMs).then(onSessionEnd)
    return this.#sessionEnd
  }

  /**
   * Emits the output of one turn of the event loop together. A flood arrives in small pieces, and each action costs every
   * client that watches. So the next batch waits some milliseconds, unless its output fills a whole action or is the first
   * after an input: somebody who types waits for the echo of each key.
   */
  #scheduleBatch(): void {
    const full = this.#bufferedBytes >= this.#options.limits.terminalData
    const wait = this.#lastBatch + batchMs - performance.now()
    const early = !full && !this.#answersInput && wait > 0
    if (this.#scheduled === 'now' || (early && this.#scheduled)) return
    clearTimeout(this.#delay)
    this.#scheduled = early ? 'delayed' : 'now'
    const run = () => {
      this.#scheduled = undefined
      if (!this.#paused) this.#emitBatch()
    }
    if (early) this.#delay = setTimeout(run, wait)
    else setImmediate(run)
  }

  #emitBatch(): void {
    const buffered = this.#buffered
    const [first] = buffered
    this.#buffered = []
    this.#bufferedBytes = 0
    this.#answersInput = false
    this.#lastBatch = performance.now()
    if (first) this.#emitText(this.#decoder.write(buffered.length === 1 ? first : Buffer.concat(buffered)))
    if (this.#exit) this.#emitExit(this.#exit.code)
  }

  #emitText(text: string): void {
    for (const part of this.#sanitizer.push(text)) this.#emitPart(part)
  }

  #emitPart(part: OutputPart): void {
    if ('data' in part) {
      this.#replies.output(part.data)
      for (const data of chunksOf(part.data, this.#options.limits.terminalData))
        this.#options.emit({ type: 'terminal/data', data })
    } else if ('query' in part) this.#replies.query(part.query)
    else if ('title' in part) this.#title.set(part.title)
    else if ('cwd' in part) this.#cwd.set(part.cwd)
    else {
      const { detected } = this.#commands
      this.#commands.receive(part.mark)
      if (!detected && this.#commands.detected) this.#options.onReady()
    }
  }

  #emitExit(exitCode: number | undefined): void {
    if (this.#hasExited) return
    this.#hasExited = true
    this.#emitText(this.#decoder.end())
    this.#title.end()
    this.#cwd.end()
    this.#commands.finish(exitCode)
    this.#replies.close()
    this.#options.emit({ type: 'terminal/exited', ...(exitCode !== undefined && { exitCode }) })
    this.#options.onReady()
    // Background jobs that do not hold the pty are ended too.
    void this.#endSession()
    this.#resolveExitEmitted()
  }
}

/** The longest time that `end` waits for the exit of the program, in milliseconds. */
const exitTimeoutMs = 30_000

/** The minimum time between two small batches. */
const batchMs = 4

export function sizeWithin({ cols, rows }: Size, most: number): Size {
  const within = (side: number) => Math.min(Math.max(Math.trunc(side) || 1, 1), most)
  return { cols: within(cols), rows: within(rows) }
}

/** Splits a text into chunks of at most `most` UTF-16 units, without splitting a surrogate pair. */
function* chunksOf(text: string, most: number): Iterable<string> {
  for (let at = 0; at < text.length;) {
    let to = Math.min(at + most, text.length)
    if (to < text.length && /[\ud800-\udbff]/.test(text.charAt(to - 1))) to--
    yield at === 0 && to === text.length ? text : text.slice(at, to)
    at = to
  }
}
