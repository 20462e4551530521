import type { TerminalAction } from '@atrium/protocol/terminal/actions'

/** Shells of the machine, each in a terminal of its own. Every adapter passes the suite in `terminals.contract.ts`. */
export interface Terminals {
  /** Resolves when it runs; rejects with words for people where it cannot. What it says comes in order, `exited` last. */
  start(start: Start, say: (said: TerminalOutput) => void): Promise<Shell>
}

export interface Start {
  /** An absolute path. */
  readonly cwd: string
  readonly cols: number
  readonly rows: number
  /** A line for the shell, after which it ends. Absent: a shell to type into. */
  readonly command?: string
}

export interface Shell {
  /** Bytes as if they were typed. Kept nowhere. */
  input(data: string): void
  resize(cols: number, rows: number): void
  /** No more of its output is taken until `resume`: it has to wait. */
  pause(): void
  resume(): void
  /** Ends it and whatever it started in its terminal; resolves when it has gone. */
  end(): Promise<void>
}

/** What a terminal says about itself. Its data is harmless: it can neither ask nor command whoever shows it (S-32). */
export type TerminalOutput = Extract<
  TerminalAction,
  {
    readonly type:
      | 'terminal/data'
      | 'terminal/titleChanged'
      | 'terminal/cwdChanged'
      | 'terminal/exited'
      | 'terminal/commandDetectionAvailable'
      | 'terminal/commandExecuted'
      | 'terminal/commandFinished'
  }
>
