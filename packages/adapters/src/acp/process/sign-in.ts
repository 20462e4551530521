import type { AuthMethod } from './schema.ts'

/**
 * Returns the instruction to sign in. It names a command: the one that the agent announces, else the known command of
 * the program. If there is neither, the instruction is the agent's own description of the sign-in.
 */
export function signInText(
  methods: readonly AuthMethod[] = [],
  command: string,
  knownCommand: string | undefined,
): string {
  for (const { type, args = [], _meta } of methods) {
    const terminal = _meta?.['terminal-auth']
    if (typeof terminal?.command === 'string') return runText(terminal.command, terminal.args)
    if (type === 'terminal') return runText(command, args)
  }
  if (knownCommand !== undefined) return runText(knownCommand)
  const described = methods.find(({ description }) => description)?.description
  return described ? `${described}.`.replace(/\.\.$/, '.') : runText(command)
}

function runText(command: string, args: readonly string[] = []): string {
  return `Run \`${[command, ...args].join(' ')}\` in a terminal, and sign in there. Then begin or resume a turn.`
}
