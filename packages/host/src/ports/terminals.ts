import type { TerminalAction } from '@atrium/protocol/terminal/actions'

/** The shells of the machine, each in its own terminal. Every adapter passes the suite in `terminals.contract.ts`. */
export interface Terminals {
  /**
   * Starts a shell. Resolves when it runs. Rejects with a message for users. The listener gets the output in order,
   * and `terminal/exited` last.
   */
  start(start: Start, listener: (output: TerminalOutput) => void): Promise<Shell>
}

export interface Start {
  /** An absolute path. */
  readonly cwd: string
  readonly cols: number
  readonly rows: number
  /** A command that the shell runs before it exits. Absent for an interactive shell. */
  readonly command?: string
}

export interface Shell {
  /** Sends input as if a user had typed it. The input is not stored. */
  input(data: string): void
  resize(cols: number, rows: number): void
  /** Stops reading the output until `resume` is called, so that the program blocks. */
  pause(): void
  resume(): void
  /** Ends the shell and the processes that it started in its terminal. Resolves when all of them are gone. */
  end(): Promise<void>
}

/**
 * The actions that a shell produces. Their data contains no control sequences that query or control the viewer's terminal
 * (S-32).
 */
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
