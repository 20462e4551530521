/** One command that talks to a host: how it is typed, what it is for, and where its work is. */
export interface Verb {
  /** As it is typed, with its arguments. */
  readonly usage: string
  readonly about: string
  readonly options?: readonly (readonly [flags: string, about: string])[]
  /** For shells and not for people. */
  readonly hidden?: boolean
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
  {
    usage: 'send <session> <text...>',
    about: 'say something in a session (- reads it from stdin)',
    options: [
      ['--steer', 'into the turn that goes on, instead of behind it'],
      ['-w, --wait', 'wait for the answer, and exit as its turn ends'],
      ['--timeout <seconds>', 'wait no longer than that'],
    ],
    load: async () => (await import('./commands/send.ts')).send,
  },
  {
    usage: 'logs <session>',
    about: 'what happened in a session, and what happens',
    options: [
      ['-f, --follow', 'each action as it happens'],
      ['-n, --turns <n>', 'so many of the newest turns, or all (default: 10)'],
    ],
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  {
    usage: 'cancel <session>',
    about: 'end what goes on in a session',
    options: [['--queued', 'what waits behind it, too']],
    load: async () => (await import('./commands/cancel.ts')).cancel,
  },
  {
    usage: 'approve [session]',
    about: 'say yes to what waits there; without a session: list all that waits',
    options: [
      ['--option <choice>', 'once, session, folder, or another that is offered'],
      ['--edit <input>', 'with another input'],
      ['--call <id>', 'which one, if there are several'],
    ],
    load: async () => (await import('./commands/approve.ts')).approve,
  },
  {
    usage: 'deny <session>',
    about: 'say no to what waits there',
    options: [
      ['--reason <text>', 'why'],
      ['--option <choice>', 'a no of another kind, if one is offered'],
      ['--call <id>', 'which one, if there are several'],
    ],
    load: async () => (await import('./commands/approve.ts')).deny,
  },
  {
    usage: 'fork <session>',
    about: 'a new chat that begins with the turns of this one',
    options: [['--turn <turn>', 'up to this one: its id, or its number (-1 is the last)']],
    load: async () => (await import('./commands/fork.ts')).fork,
  },
  {
    usage: 'export <session>',
    about: 'a whole session as a page',
    options: [['--format <format>', 'markdown or json (default: markdown)']],
    load: async () => (await import('./commands/export.ts')).exportSession,
  },
  {
    usage: 'grant [folder]',
    about: 'let clients and agents use a folder; without one: list all that is allowed',
    options: [['--write', 'for writing, too']],
    load: async () => (await import('./commands/grant.ts')).grant,
  },
  {
    usage: 'revoke <folder>',
    about: 'take a folder back, or a permission by its id',
    load: async () => (await import('./commands/grant.ts')).revoke,
  },
  {
    usage: 'mcp <session> [server]',
    about: 'the MCP servers of a session; with --on or --off: one of them switched',
    options: [
      ['--on', 'its agent may use it, from the next turn on'],
      ['--off', 'its agent may not'],
    ],
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  {
    usage: 'agents',
    about: 'the agents of the host',
    options: [
      ['--check', 'start each and ask it what it can: its models, and whether somebody must sign in'],
    ],
    load: async () => (await import('./commands/agents.ts')).agents,
  },
  {
    usage: 'config [key] [value]',
    about: 'the settings of the host: all, one, or one changed',
    options: [['--unset', 'as if nobody had set it']],
    load: async () => (await import('./commands/config.ts')).config,
  },
  {
    usage: 'doctor',
    about: 'look for what is wrong, and say how to mend it',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    usage: '__names',
    about: 'the names of the sessions',
    hidden: true,
    load: async () => (await import('./commands/names.ts')).names,
  },
]
