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
    usage: 'run [prompt...]',
    about: 'let an agent do something, to its end; bare text means the same',
    options: [
      ['--agent <id>', 'which agent (default: the first)'],
      ['--model <id>', 'which of its models'],
      ['--cwd <dir>', 'where it works (default: here)'],
      ['--session <name>', 'go on in a session instead of beginning one'],
      ['--timeout <seconds>', 'cancel it after so long'],
      ['--allow <once|session>', 'agree to its tools beforehand: each time, or for the session'],
    ],
    load: async () => (await import('./commands/run.ts')).run,
  },
  {
    usage: 'attach [session]',
    about: 'see a session as it happens, and take part in it (default: the last one)',
    options: [['--turns <n>', 'how many of the last turns to show first (default: 3)']],
    load: async () => (await import('./commands/attach.ts')).attach,
  },
  {
    usage: 'ls',
    about: 'the sessions',
    options: [['-a, --all', 'archived ones too']],
    load: async () => (await import('./commands/ls.ts')).list,
  },
]
