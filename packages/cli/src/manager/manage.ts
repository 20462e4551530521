import { ensureHost } from '../link/background.ts'
import type { HostOptions } from '../link/connect.ts'
import { ManagedHosts } from './hosts.ts'
import { SessionManager } from './manager.ts'
import { CommandError, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import { output } from '../terminal/output.ts'
import type { OutputOptions } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly also?: readonly string[]
}

/** `atrium manage`, and `atrium` alone at a terminal: all sessions of one or several hosts, live on the whole screen. */
export async function manage(flags: Flags): Promise<Exit> {
  const { stdin, stdout } = process
  if (stdin.isTTY !== true || stdout.isTTY !== true || process.env['TERM'] === 'dumb')
    throw new CommandError(
      'The session manager needs a terminal; list the sessions with: atrium ls',
      exits.usage,
    )
  const { also = [], ...options } = flags
  await ensureHost(options, output(flags))
  const hosts = new ManagedHosts()
  try {
    await hosts.open(options, also)
    return await new SessionManager(hosts).done()
  } finally {
    hosts.close()
  }
}
