import { Command, CommanderError, Option } from 'commander'
import { newToken, showToken } from './commands/token.ts'
import { Problem, sentenceOf } from './problem.ts'
import { version } from './version.ts'

/** Also takes the arguments out of the list of processes, where a token might stand. */
process.title = 'atrium'

try {
  await program().parseAsync()
  process.exit()
} catch (error) {
  process.exit(exitOf(error))
}

function program(): Command {
  const atrium = new Command('atrium')
    .description('An agent host: sessions as a durable log, live in every client.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'atrium: ')) })
  atrium.addCommand(serveCommand().copyInheritedSettings(atrium))
  const token = atrium.command('token').description('the token of a data folder')
  const data = () => new Option('--data <dir>', 'the data folder')
  token.command('show').description('print it').addOption(data()).action(showToken)
  token.command('rotate').description('make a new one').addOption(data()).action(newToken)
  return atrium
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
      // Loaded here, so that the other commands start without a host.
      const { serve } = await import('./commands/serve.ts')
      await serve(flags, json)
    })
}

function append(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** 0 after help and version, 2 for what was typed wrong, 1 for everything else. */
function exitOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  process.stderr.write(`atrium: ${sentenceOf(error)}\n`)
  return error instanceof Problem ? error.exit : 1
}
