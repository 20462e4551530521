/** A command that connects to a host: its usage, its help, and its implementation. */
export interface Verb {
  /** The name, followed by the arguments. */
  readonly usage: string
  readonly about: string
  readonly options?: readonly (readonly [flags: string, about: string])[]
  /** Whether the command is left out of the help, because only shells call it. */
  readonly hidden?: boolean
  /**
   * Loads the implementation on demand, so that no command waits for the modules of others. The implementation gets the
   * arguments, then the flags.
   */
  readonly load: () => Promise<(...given: never[]) => Promise<unknown>>
}

/** The options that all of these commands have. */
export const common: readonly (readonly [string, string])[] = [
  ['--host <url>', 'a host elsewhere (default: the one on this machine)'],
  ['--token-file <file>', 'a file that holds the token of that host'],
  ['--data <dir>', 'the data folder of the host on this machine'],
  ['--json', 'JSON, one document per line'],
  ['-q, --quiet', 'print the result only, without notes'],
]
