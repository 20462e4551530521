import type { Client } from '@atrium/client/client'
import { CommandError, exits } from '../terminal/exit.ts'
import { onOneLine } from '../terminal/output.ts'
import { connect, isRemote } from './connect.ts'
import type { HostOptions } from './connect.ts'

/** How long the host may be away, for example for a restart, before the command gives up. */
const maxAwayMs = 5_000

/** Connects, runs `work` and disconnects. Ends early when the host stays away, or at Ctrl-C. */
export async function withClient<T>(options: HostOptions, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(options)
  process.once('SIGINT', () => process.exit(exits.interrupted))
  const watch = watchLink(client, () => hostLost(options))
  // Without this message, a command that changes something would wait silently while the disk of the host is full.
  client.onProblem(({ kind, detail }) => {
    if (kind === 'full') process.stderr.write(`atrium: ${onOneLine(detail)}\n`)
  })
  try {
    return await Promise.race([work(client), watch.lost])
  } catch (error) {
    // If the link is broken, the break has most likely caused the error. So the error names the break instead.
    throw client.link.state === 'live' || error instanceof CommandError ? error : hostLost(options)
  } finally {
    watch.end()
    client.close()
  }
}

/** Watches the link. `lost` rejects when the link is closed, or does not come back in time. `end` stops watching. */
function watchLink(
  client: Client,
  hostLost: () => CommandError,
): { readonly lost: Promise<never>; readonly end: () => void } {
  let timer: NodeJS.Timeout | undefined
  let unsubscribe = () => {}
  const lost = new Promise<never>((_, reject) => {
    unsubscribe = client.onLink(({ state }) => {
      if (state === 'live') {
        clearTimeout(timer)
        timer = undefined
      } else if (state === 'closed') reject(hostLost())
      else timer ??= setTimeout(() => reject(hostLost()), maxAwayMs)
    })
  })
  lost.catch(() => {})
  return {
    lost,
    end: () => {
      clearTimeout(timer)
      unsubscribe()
    },
  }
}

function hostLost(options: HostOptions): CommandError {
  return new CommandError(
    isRemote(options)
      ? 'The connection to the host was lost in the middle of this. Check whether it was done before you try again.'
      : 'The host went away in the middle of this; start it again with: atrium serve',
  )
}

/**
 * Rejects with exit code 3 unless `task` settles in time. `what` is the beginning of the error message, and `advice` its end.
 * Without `seconds` there is no limit.
 */
export async function withTimeout<T>(
  seconds: number | undefined,
  task: Promise<T>,
  what: string,
  advice = '',
): Promise<T> {
  if (seconds === undefined) return task
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const sentence = `${what} in ${seconds} s.${advice}`
    timer = setTimeout(() => reject(new CommandError(sentence, exits.timeout)), seconds * 1000)
  })
  return Promise.race([task, late]).finally(() => clearTimeout(timer))
}

/** Waits until a check is true. Rejects with exit code 3 if that takes too long. `what` is the beginning of the error message. */
export async function until(check: () => boolean, seconds: number, what: string): Promise<void> {
  let isOver = false
  const passed = async () => {
    while (!check() && !isOver) await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  await withTimeout(seconds, passed(), what).finally(() => (isOver = true))
}

/** Parses a number of seconds. The upper limit is the longest delay of a timer. */
export function parseSeconds(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN
  if (seconds > 0 && seconds <= 2_000_000) return seconds
  throw new CommandError(
    `${flag} must be a number of seconds above 0, at most 2000000, and not '${text}'.`,
    exits.usage,
  )
}

const pollMs = 50
