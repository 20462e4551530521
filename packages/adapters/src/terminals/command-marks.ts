import { randomBytes } from 'node:crypto'
import type { TerminalOutput } from '@atrium/host/ports/terminals'
import type { Mark } from './output-part.ts'

export interface CommandBounds {
  readonly commandLength: number
  readonly commandRate: number
}

/** The commands of one terminal, by the marks that its shell makes. */
export class Commands {
  readonly #say: (said: TerminalOutput) => void
  readonly #bounds: CommandBounds
  readonly #clock: () => number
  #detected = false
  #line = ''
  #running: { readonly id: string; readonly since: number } | undefined
  /** When the present second began, and the commands in it. */
  #second = -Infinity
  #count = 0

  constructor(say: (said: TerminalOutput) => void, bounds: CommandBounds, clock = () => performance.now()) {
    this.#say = say
    this.#bounds = bounds
    this.#clock = clock
  }

  /** Whether the shell has shown that it makes marks. */
  get detected(): boolean {
    return this.#detected
  }

  mark(mark: Mark): void {
    if (mark.at === 'line') this.#line = mark.line
    else if (mark.at === 'executed') this.#executed(mark.line ?? this.#line)
    else if (mark.at === 'finished') this.finish(mark.exitCode)
    else this.#prompt()
  }

  /** Also where its shell ends in the midst of it. */
  finish(exitCode: number | undefined): void {
    const running = this.#running
    this.#running = undefined
    this.#line = ''
    if (!running) return
    const durationMs = Math.max(0, Math.round(this.#clock() - running.since))
    const known = exitCode === undefined ? {} : { exitCode }
    this.#say({ type: 'terminal/commandFinished', commandId: running.id, ...known, durationMs })
  }

  #prompt(): void {
    // Whoever is asked for the next one has ended the last, though nothing said how.
    this.finish(undefined)
    if (this.#detected) return
    this.#detected = true
    this.#say({ type: 'terminal/commandDetectionAvailable' })
  }

  #executed(line: string): void {
    if (this.#running || this.#tooMany()) return
    this.#running = { id: randomBytes(16).toString('hex'), since: this.#clock() }
    this.#say({
      type: 'terminal/commandExecuted',
      commandId: this.#running.id,
      commandLine: cut(line, this.#bounds.commandLength),
      timestamp: Date.now(),
    })
  }

  /** Each is stored, and where nothing is known that only the shell knows any program can make them up. */
  #tooMany(): boolean {
    const now = this.#clock()
    if (now - this.#second >= 1000) {
      this.#second = now
      this.#count = 0
    }
    return ++this.#count > this.#bounds.commandRate
  }
}

/** Not in the midst of a character. */
const cut = (text: string, most: number) => text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
