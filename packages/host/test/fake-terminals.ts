import type { Shell, Start, TerminalOutput, Terminals } from '../src/ports/terminals.ts'

/** A shell without a process. The test sends the shell's output, and the shell records every call. */
export class FakeShell implements Shell {
  readonly start: Start
  readonly typed: string[] = []
  readonly sizes: (readonly [number, number])[] = []
  paused = false
  pauses = 0
  ended = false
  readonly #say: (said: TerminalOutput) => void

  constructor(start: Start, say: (said: TerminalOutput) => void) {
    this.start = start
    this.#say = say
  }

  say(said: TerminalOutput): void {
    this.#say(said)
  }

  data(data: string): void {
    this.say({ type: 'terminal/data', data })
  }

  exit(exitCode?: number): void {
    this.ended = true
    this.say({ type: 'terminal/exited', ...(exitCode !== undefined && { exitCode }) })
  }

  input(data: string): void {
    this.typed.push(data)
  }

  resize(cols: number, rows: number): void {
    this.sizes.push([cols, rows])
  }

  pause(): void {
    this.paused = true
    this.pauses++
  }

  resume(): void {
    this.paused = false
  }

  async end(): Promise<void> {
    if (!this.ended) this.exit(129)
  }
}

export interface FakeTerminals extends Terminals {
  readonly shells: FakeShell[]
  /** The error message with which the next start fails, if any. */
  trouble: string | undefined
  /** Awaited before each shell starts, if it is set. */
  delay: Promise<void> | undefined
}

export function fakeTerminals(begin: (shell: FakeShell) => void = () => {}): FakeTerminals {
  const shells: FakeShell[] = []
  return {
    shells,
    trouble: undefined,
    delay: undefined,
    async start(start, say) {
      if (this.delay) await this.delay
      if (this.trouble !== undefined) throw new Error(this.trouble)
      const shell = new FakeShell(start, say)
      shells.push(shell)
      begin(shell)
      return shell
    },
  }
}
