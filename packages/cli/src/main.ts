import { Argument, Command, CommanderError, Option } from 'commander'
import { endThread, startThread } from '@atrium/adapters/store/sqlite/thread'
import type { ClusterFlags } from './commands/cluster/status.ts'
import type { MoveFlags } from './commands/store/move.ts'
import type { RestoreFlags } from './commands/store/restore.ts'
import type { Shell } from './shell-completion.ts'
import { exitFor, exits, sentenceOf } from './terminal/exit.ts'
import type { Exit } from './terminal/exit.ts'
import { common } from './verb.ts'
import type { Verb } from './verb.ts'
import { verbs } from './verbs.ts'
import { isLike, isTypo, wordsOfOthers } from './terminal/similar.ts'
import { version } from './terminal/version.ts'
import { sanitize } from './terminal/output.ts'

// Setting the title also hides the arguments, which may contain a token, from the list of processes.
process.title = 'atrium'

// A reader that closes the pipe, as in `atrium logs | head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exits.ok)
})

// What no code has caught is a fault of this program. Its stack would help no user.
const fault = (error: unknown) => process.exit(exitOf(error))
process.on('uncaughtException', fault).on('unhandledRejection', fault)

void main()

async function main(): Promise<void> {
  try {
    const atrium = program()
    const names = ['help', ...atrium.commands.map((command) => command.name())]
    await atrium.parseAsync(isBare() ? [...process.argv, 'manage'] : withRunCommand(process.argv, names))
    await flushed()
    process.exit()
  } catch (error) {
    const exit = exitOf(error)
    await flushed()
    process.exit(exit)
  }
}

/** Whether the command was typed alone at a terminal that can show the session manager. */
function isBare({ argv, stdin, stdout, env } = process): boolean {
  return argv.length === 2 && stdin.isTTY === true && stdout.isTTY === true && env['TERM'] !== 'dumb'
}

/** Resolves when stdout is flushed: writes to a pipe are asynchronous on some systems. */
function flushed(): Promise<unknown> {
  return new Promise((resolve) => process.stdout.write('', resolve))
}

function program(): Command {
  const atrium = new Command('atrium')
    .description('An agent host: sessions as a durable log, live in every client.')
    .version(version)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) =>
        write(
          usageError(
            text,
            atrium.commands.map((command) => command.name()),
          ),
        ),
    })
  atrium.addCommand(pointing(serveCommand().copyInheritedSettings(atrium)))
  for (const verb of verbs) {
    const command = pointing(commandOf(verb).copyInheritedSettings(atrium))
    atrium.addCommand(command, { hidden: verb.hidden ?? false })
  }
  const token = atrium.command('token').description('show or replace the token of a data folder')
  token.configureOutput({ outputError: (text, write) => write(ownForm(text)) })
  const data = () => new Option('--data <dir>', 'the data folder')
  const tokens = () => import('./commands/token.ts')
  token
    .command('show')
    .description('print the token')
    .addOption(data())
    .action(async (flags: object) => (await tokens()).showToken(flags))
  token
    .command('rotate')
    .description('create a new token')
    .addOption(data())
    .action(async (flags: object) => (await tokens()).newToken(flags))
  atrium
    .command('move')
    .description('move the sessions of a host into a database, or back; the host must not run')
    .requiredOption('--from <store>', 'a data folder, or postgres://user@host/database')
    .requiredOption('--to <store>', 'an empty one of the other kind')
    .option('--json', 'JSON, one document per line')
    .action(async (flags: MoveFlags) => (await import('./commands/store/move.ts')).moveStore(flags))
  atrium
    .command('restore <folder>')
    .description('bring back the sessions in a copy of the data folder; the host must not run')
    .addOption(data())
    .option('--json', 'JSON, one document per line')
    .action(async (folder: string, flags: RestoreFlags) =>
      (await import('./commands/store/restore.ts')).restoreStore(folder, flags),
    )
  atrium
    .command('cluster')
    .description('tell which node owns the sessions in a database')
    .command('status')
    .description('print the owner, its epoch and the end of its lease')
    .option('--store <url>', 'postgres://user@host/database (default: the one of the settings)')
    .option('--json', 'JSON, one document per line')
    .action(async (flags: ClusterFlags) =>
      (await import('./commands/cluster/status.ts')).clusterStatus(flags),
    )
  atrium
    .command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => (await import('./commands/completion.ts')).completion(shell, atrium))
  return atrium
}

/** After a usage error, a command points at its help. */
function pointing(command: Command): Command {
  return command.showHelpAfterError(`(Its arguments and options: atrium ${command.name()} --help)`)
}

function commandOf({ usage, about, options = [], load }: Verb): Command {
  const [name = '', ...args] = usage.split(' ')
  const command = new Command(name).description(about)
  for (const argument of args) command.argument(argument)
  for (const [flags, meaning] of [...options, ...common]) command.option(flags, meaning)
  return command.action(async (...given: unknown[]) => {
    // Commander passes the arguments that `usage` declares, so their types cannot be known here.
    const run = (await load()) as (...all: unknown[]) => Promise<unknown>
    // The last argument is the Commander object itself.
    const exit = await run(...given.slice(0, -1))
    if (typeof exit === 'number') process.exitCode = exit
  })
}

/**
 * Inserts `run` if the arguments are a prompt. They are a prompt if the first argument has a space in it, or if they begin with
 * two or more words and the first is not like the name of a command. A mistyped command must not start an agent. So two words
 * are no prompt either if the second names a session, as in `delete last`.
 */
function withRunCommand(argv: readonly string[], commands: readonly string[]): readonly string[] {
  const [node = '', file = '', first = '', ...others] = argv
  if (first === '' || first.startsWith('-')) return argv
  const end = others.findIndex((word) => word.startsWith('-') && word !== '-')
  const words = end < 0 ? others : others.slice(0, end)
  const isCommand =
    (words.length === 1 && isSessionName(words[0])) || commands.some((name) => isLike(first, name))
  const isPrompt = first.includes(' ') || (words.length > 0 && !isCommand)
  return isPrompt ? [node, file, 'run', first, ...others] : argv
}

/** Whether a word names a session: the last one, or one by its URI or the beginning of its id. */
function isSessionName(word = ''): boolean {
  return word === 'last' || /^(?=.*\d)[\da-f]{8,}(-[\da-f-]*)?$|^ahp-(session|chat):/i.test(word)
}

function serveCommand(): Command {
  return new Command('serve')
    .description('run a host')
    .option('--host <address>', 'the address to listen on (default: this machine only)')
    .option('--port <port>', 'the port; 0 is any free port (default: the last one, else 7433)')
    .option('--socket <path>', 'listen on a unix socket instead')
    .option('--data <dir>', 'the data folder (default: ~/.local/share/atrium)')
    .option('--store <url>', 'keep sessions in a database: postgres://user@host/database')
    .option('--standby', 'with a database: take over when the owner has ended')
    .option('--lease <seconds>', 'with a database: when others may take over from a lost owner (default: 15)')
    .option('--machine <name>', 'with a database: the name of this machine (default: its host name)')
    .option('--shared-folder <dir>', 'with a database: a folder that all machines share (repeatable)', append)
    .option('--default-directory <dir>', 'the folder in which clients start to browse (default: your home)')
    .option('--connection-token <value>', 'the token; prefer a file')
    .option('--connection-token-file <file>', 'a file that holds the token')
    .option('--without-connection-token', 'require no token; only if no other machine can reach the host')
    .option(
      '--allow-origin <origin>',
      'let web pages of this origin connect, if they have the token (repeatable)',
      append,
    )
    .option('--allow-host <name>', 'accept this Host header, too (repeatable)', append)
    .option('--tls-cert <file>', 'the certificate, PEM')
    .option('--tls-key <file>', 'its key, PEM')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .option('--json', 'print the address as JSON, in the first line of stdout')
    .option('--read-only', 'change nothing on disk')
    .option('--no-web', 'serve no web page')
    .action(async ({ json = false, web, ...others }: { json?: boolean; web?: boolean }) => {
      // Commander sets `web` to true if there is no flag. This must not override `web` in the environment or the
      // config file.
      const flags = { ...others, ...(web === false && { web }) }
      startThread()
      try {
        const { serve } = await import('./commands/serve.ts')
        await serve(flags, json)
      } finally {
        await endThread()
      }
    })
}

function append(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Returns an error of Commander in the form of our own errors. An unknown command may have been meant as a prompt. */
function usageError(text: string, names: readonly string[]): string {
  const [, word] = /unknown command '([^']*)'/.exec(text) ?? []
  if (word === undefined) return ownForm(text)
  const meant = wordsOfOthers.get(word.toLowerCase())
  const near =
    meant === undefined ? names.filter((name) => !name.startsWith('_') && isTypo(word, name)) : [meant]
  const hint = near.length > 0 ? `(Did you mean ${near.join(' or ')}?)` : '(All commands: atrium --help)'
  // Commander also suggests names that only have letters in common.
  const [problem = ''] = ownForm(text).split('\n')
  return `${problem}\n${hint}\n(To run it as a prompt: atrium run ${word})\n`
}

function ownForm(text: string): string {
  return text.replace(/^error: /, 'atrium: ')
}

/** Prints an error and returns its exit code. Commander has already printed usage errors, help and version. */
function exitOf(error: unknown): Exit {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exits.ok : exits.usage
  // The message is sanitized, because it may contain text from a host.
  process.stderr.write(`atrium: ${sanitize(sentenceOf(error))}\n`)
  return exitFor(error)
}
