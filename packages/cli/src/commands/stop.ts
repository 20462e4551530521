import type { Client } from '@atrium/client/client'
import { Activity, activityOf } from '@atrium/protocol/status'
import { addressOf } from '../link/connect.ts'
import type { HostOptions } from '../link/connect.ts'
import { parseSeconds, until, withClient, withTimeout } from '../link/with-client.ts'
import { isRunning } from '../serve/discovery.ts'
import { allSessions } from '../session/find.ts'
import { CommandError, exits, systemCode } from '../terminal/exit.ts'
import { output } from '../terminal/output.ts'
import type { OutputOptions } from '../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly timeout?: string
}

/** `atrium stop`: stops the host of a data folder, wherever it was started, and waits for its end. */
export async function stop(flags: Flags): Promise<void> {
  const { report } = output(flags)
  const seconds = parseSeconds(flags.timeout, '--timeout') ?? defaultSeconds
  const { pid } = await addressOf(flags)
  if (pid === undefined)
    throw new CommandError(
      'Only a host on this machine can be stopped; leave out --host, and unset ATRIUM_URL.',
      exits.usage,
    )
  // The command asks the host before it sends a signal. If the host has crashed, another process may have got its
  // process id. An answer to the host's token shows that the process is the host.
  const host = `The host (process ${pid})`
  const asked = withClient(flags, activeTurns)
  const active = await withTimeout(seconds, asked, `${host} has not answered`, ' It was not stopped.')
  sendStop(pid)
  await until(() => !isRunning(pid), seconds, `${host} has not stopped`)
  const turns = active === 1 ? '1 turn was' : `${active} turns were`
  const rest = active === 0 ? '' : ` ${turns} active; /resume in atrium attach continues an interrupted turn.`
  report({ stopped: pid, interrupted: active }, () => `The host has stopped.${rest}`)
}

/**
 * The number of chats in which an agent works. A turn that waits for a user is not counted, because it still waits
 * after the next start (H9.9).
 */
async function activeTurns(client: Client): Promise<number> {
  const statuses = (await allSessions(client)).flatMap(({ status, chats }) =>
    chats ? chats.map((chat) => chat.status ?? 0) : [status],
  )
  return statuses.filter((status) => activityOf(status) === Activity.InProgress).length
}

/** Asks the host to stop. It may have ended meanwhile. */
function sendStop(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
  }
}

const defaultSeconds = 30
