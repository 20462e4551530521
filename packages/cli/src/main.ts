import { Argument, Command, CommanderError, Option } from 'commander'
import type { Shell } from './shell-completion.ts'
import { exitFor, exits, sentenceOf } from './terminal/exit.ts'
import type { Exit } from './terminal/exit.ts'
import { common, verbs } from './verbs.ts'
import type { Verb } from './verbs.ts'
import { version } from './terminal/version.ts'
import { harmless } from './terminal/output.ts'

/** Also takes the arguments out of the list of processes, where a token might stand. */
process.title = 'atrium'

// Whoever reads may have had enough: `atrium logs | head` is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exits.ok)
})

void main()

async function main(): Promise<void> {
  try {
    await program().parseAsync(promptFirst(process.argv))
    await written()
    process.exit()
  } catch (error) {
    const exit = exitOf(error)
    await written()
    process.exit(exit)
  }
}

/** Not on every system is what was written to a pipe in it at once. */
function written(): Promise<unknown> {
  return new Promise((resolve) => process.stdout.write('', resolve))
}

function program(): Command {
  const atrium = new Command('atrium')
    .description('An agent host: sessions as a durable log, live in every client.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'atrium: ')) })
  atrium.addCommand(serveCommand().copyInheritedSettings(atrium))
  for (const verb of verbs) {
    const command = commandOf(verb).copyInheritedSettings(atrium)
    atrium.addCommand(command, { hidden: verb.hidden ?? false })
  }
  const token = atrium.command('token').description('the token of a data folder')
  const data = () => new Option('--data <dir>', 'the data folder')
  const tokens = () => import('./commands/token.ts')
  token
    .command('show')
    .description('print it')
    .addOption(data())
    .action(async (flags: object) => (await tokens()).showToken(flags))
  token
    .command('rotate')
    .description('make a new one')
    .addOption(data())
    .action(async (flags: object) => (await tokens()).newToken(flags))
  atrium
    .command('completion')
    .description('a script that lets your shell complete all this')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => (await import('./commands/completion.ts')).completion(shell, atrium))
  return atrium
}

function commandOf({ usage, about, options = [], load }: Verb): Command {
  const [name = '', ...args] = usage.split(' ')
  const command = new Command(name).description(about)
  for (const argument of args) command.argument(argument)
  for (const [flags, meaning] of [...options, ...common]) command.option(flags, meaning)
  return command.action(async (...given: unknown[]) => {
    const work = (await load()) as (...all: unknown[]) => Promise<unknown>
    // Commander hands itself over behind the flags.
    const exit = await work(...given.slice(0, -1))
    if (typeof exit === 'number') process.exitCode = exit
  })
}

/** Bare text is a prompt: what has a space in it is the name of no command. */
function promptFirst(argv: readonly string[]): readonly string[] {
  const at = argv.findIndex((word, index) => index >= 2 && !word.startsWith('-'))
  if (at < 0 || at !== 2 || !argv[at]?.includes(' ')) return argv
  return [...argv.slice(0, at), 'run', ...argv.slice(at)]
}

function serveCommand(): Command {
  return new Command('serve')
    .description('run a host')
    .option('--host <address>', 'where to listen (default: this machine alone)')
    .option('--port <port>', 'the port; 0 is any (default: the last one, else 7433)')
    .option('--socket <path>', 'listen on a unix socket instead')
    .option('--data <dir>', 'the data folder (default: ~/.local/share/atrium)')
    .option('--default-directory <dir>', 'where clients start to look for a folder (default: your home)')
    .option('--connection-token <value>', 'a token of your own; prefer a file')
    .option('--connection-token-file <file>', 'a file that holds the token')
    .option('--without-connection-token', 'no token, on this machine only')
    .option('--allow-origin <origin>', 'let pages of this origin in, with a token (repeatable)', append)
    .option('--allow-host <name>', 'answer to this name too (repeatable)', append)
    .option('--tls-cert <file>', 'the certificate, PEM')
    .option('--tls-key <file>', 'its key, PEM')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('--json', 'say on stdout, as the first line, where the host is')
    .option('--read-only', 'change nothing on disk')
    .action(async ({ json = false, ...flags }: { json?: boolean }) => {
      const { serve } = await import('./commands/serve.ts')
      await serve(flags, json)
    })
}

function append(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Help and version are fine, what was typed wrong is said by commander, and the rest says itself how it ends. */
function exitOf(error: unknown): Exit {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exits.ok : exits.usage
  // Some of it may be the words of a host.
  process.stderr.write(`atrium: ${harmless(sentenceOf(error))}\n`)
  return exitFor(error)
}
