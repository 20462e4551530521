/** One command that talks to a host: how it is typed, what it is for, and where its work is. */
export interface Verb {
  /** As it is typed, with its arguments. */
  readonly usage: string
  readonly about: string
  readonly options?: readonly (readonly [flags: string, about: string])[]
  /** Loaded when it is asked for, so that no command waits for the others. Gets the arguments, then the flags. */
  readonly load: () => Promise<(...given: never[]) => Promise<unknown>>
}

/** What every one of them takes. */
export const common: readonly (readonly [string, string])[] = [
  ['--host <url>', 'a host elsewhere (default: the one on this machine)'],
  ['--token-file <file>', 'a file that holds the token of that host'],
  ['--data <dir>', 'the data folder of the host on this machine'],
  ['--json', 'JSON, one document a line'],
  ['-q, --quiet', 'nothing but what was asked for'],
]

export const verbs: readonly Verb[] = [
  {
    usage: 'ls',
    about: 'the sessions',
    options: [['-a, --all', 'archived ones too']],
    load: async () => (await import('./commands/ls.ts')).list,
  },
]
