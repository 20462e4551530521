/** Runs the commands of hooks. Every adapter passes the suite in `hooks.contract.ts`. */
export interface HookRunner {
  /**
   * Runs a command line in a shell. When the time is over or the signal is aborted, the runner ends the command and everything
   * that the command has started. Never rejects: a command that cannot be started has an outcome, too.
   */
  run(command: HookRun, signal: AbortSignal): Promise<HookOutcome>
  /** The system of this runner. A hook may have a command line for each system. */
  readonly system: 'linux' | 'osx' | 'windows'
}

export interface HookRun {
  /** A command line for the shell. */
  readonly line: string
  /** An absolute path. */
  readonly cwd: string
  /** Variables in addition to those that every shell gets. */
  readonly env: { readonly [name: string]: string }
  /** The text on the standard input of the command. */
  readonly input: string
  readonly timeoutMs: number
  /** The maximum number of characters of the standard output, and of the standard error. The rest is dropped. */
  readonly maxLength: number
}

export interface HookOutcome {
  /** Absent if the command was ended or did not start. */
  readonly exitCode?: number
  readonly stdout: string
  readonly stderr: string
  /** Why there is no exit code, for users. */
  readonly problem?: string
}
