/** Runs the commands of hooks. Every adapter passes the suite in `hooks.contract.ts`. */
export interface HookRunner {
  /**
   * Runs a command line in a shell. The command is ended with everything that it has started when its time is over or the
   * signal is aborted. Never rejects: a command that cannot be started has an outcome, too.
   */
  run(command: HookRun, signal: AbortSignal): Promise<HookOutcome>
  /** The system whose command line of a hook fits. */
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
  /** The maximum length of each output. What exceeds it is dropped. */
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
