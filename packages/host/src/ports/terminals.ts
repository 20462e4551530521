import type { TerminalAction } from '@atrium/protocol/terminal/actions'

/** The shells of the machine, each in its own terminal. Every adapter passes the suite in `terminals.contract.ts`. */
export interface Terminals {
  /** Resolves when the shell runs. Rejects with a message for users. Output comes in order, `terminal/exited` last. */
  start(start: Start, listener: (output: TerminalOutput) => void): Promise<Shell>
}

export interface Start {
  /** An absolute path. */
  readonly cwd: string
  readonly cols: number
  readonly rows: number
  /** A command for the shell, which then exits. Absent for an interactive shell. */
  readonly command?: string
}

export interface Shell {
  /** Sends input as if it were typed. It is stored nowhere. */
  input(data: string): void
  resize(cols: number, rows: number): void
  /** Stops reading the output until `resume`, so that the program blocks. */
  pause(): void
  resume(): void
  /** Ends the shell and the processes it started in its terminal. Resolves when they are gone. */
  end(): Promise<void>
}

/** The actions that a shell produces. The data contains no queries or commands for the terminal that shows it (S-32). */
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
