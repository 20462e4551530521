import { randomBytes } from 'node:crypto'
import type { TerminalOutput } from '@atrium/host/ports/terminals'
import type { CommandMark } from './output-part.ts'

export interface CommandLimits {
  readonly commandLength: number
  /** The maximum number of commands per second. */
  readonly commandRate: number
}

/**
 * The commands of one terminal. They are detected by marks: escape sequences that the shell prints around each
 * command.
 */
export class CommandMarks {
  readonly #emit: (output: TerminalOutput) => void
  readonly #limits: CommandLimits
  readonly #clock: () => number
  #detected = false
  #line = ''
  #running: { readonly id: string; readonly since: number } | undefined
  /** The start of the present second, and the number of commands in it. */
  #second = -Infinity
  #count = 0

  constructor(
    emit: (output: TerminalOutput) => void,
    limits: CommandLimits,
    clock = () => performance.now(),
  ) {
    this.#emit = emit
    this.#limits = limits
    this.#clock = clock
  }

  /** Whether the shell has sent a prompt mark. */
  get detected(): boolean {
    return this.#detected
  }

  receive(mark: CommandMark): void {
    if (mark.at === 'line') this.#line = mark.line
    else if (mark.at === 'executed') this.#executed(mark.line ?? this.#line)
    else if (mark.at === 'finished') this.finish(mark.exitCode)
    else this.#prompt()
  }

  /** Ends the running command, if there is one: by a mark, or because the shell itself has ended. */
  finish(exitCode: number | undefined): void {
    const running = this.#running
    this.#running = undefined
    this.#line = ''
    if (!running) return
    const durationMs = Math.max(0, Math.round(this.#clock() - running.since))
    const known = exitCode === undefined ? {} : { exitCode }
    this.#emit({ type: 'terminal/commandFinished', commandId: running.id, ...known, durationMs })
  }

  #prompt(): void {
    // A prompt ends the last command, even if its `finished` mark is missing.
    this.finish(undefined)
    if (this.#detected) return
    this.#detected = true
    this.#emit({ type: 'terminal/commandDetectionAvailable' })
  }

  #executed(line: string): void {
    if (this.#running || this.#tooMany()) return
    this.#running = { id: randomBytes(16).toString('hex'), since: this.#clock() }
    this.#emit({
      type: 'terminal/commandExecuted',
      commandId: this.#running.id,
      commandLine: shortened(line, this.#limits.commandLength),
      timestamp: Date.now(),
    })
  }

  /**
   * Whether a command is over the rate limit. There is a limit because each command is stored, and because any
   * program can print marks if the shell does not add a secret (nonce) to its own.
   */
  #tooMany(): boolean {
    const now = this.#clock()
    if (now - this.#second >= 1000) {
      this.#second = now
      this.#count = 0
    }
    return ++this.#count > this.#limits.commandRate
  }
}

/** Shortens a text without cutting a surrogate pair in half. */
const shortened = (text: string, most: number) => text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
