import type { AuthMethod } from './schema.ts'

/** How somebody signs in: the command that the agent names, else the one that is known of it, else its own words. */
export function signInText(
  methods: readonly AuthMethod[] = [],
  command: string,
  known: string | undefined,
): string {
  for (const { type, args = [], _meta } of methods) {
    const named = _meta?.['terminal-auth']
    if (typeof named?.command === 'string') return run(named.command, named.args)
    if (type === 'terminal') return run(command, args)
  }
  if (known !== undefined) return run(known)
  const described = methods.find(({ description }) => description)?.description
  return described ? `${described}.`.replace(/\.\.$/, '.') : run(command)
}

function run(command: string, args: readonly string[] = []): string {
  return `Run \`${[command, ...args].join(' ')}\` in a terminal, sign in there, and send the message again.`
}
