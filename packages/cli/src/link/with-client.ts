import type { Client } from '@atrium/client/client'
import { Problem, exits } from '../terminal/exit.ts'
import { reach } from './connect.ts'
import type { Whereabouts } from './connect.ts'

/** So long a host may be away, to be started again say, before whoever waits for it is told. */
const patienceMs = 5_000

/** The whole of a command's trip to a host: it ends with its work, when the host has gone for good, or at Ctrl-C. */
export async function trip<T>(given: Whereabouts, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await reach(given)
  process.once('SIGINT', () => process.exit(exits.interrupted))
  const watch = watchLink(client)
  try {
    return await Promise.race([work(client), watch.gone])
  } catch (error) {
    // What went over a link that broke has a sentence of its own.
    throw client.link.state === 'live' || error instanceof Problem ? error : wentAway()
  } finally {
    watch.end()
    client.close()
  }
}

/** Rejects when the link is gone and does not come back. */
function watchLink(client: Client): { readonly gone: Promise<never>; readonly end: () => void } {
  let timer: NodeJS.Timeout | undefined
  let undo = () => {}
  const gone = new Promise<never>((_, reject) => {
    undo = client.onLink(({ state }) => {
      if (state === 'live') {
        clearTimeout(timer)
        timer = undefined
      } else if (state === 'closed') reject(wentAway())
      else timer ??= setTimeout(() => reject(wentAway()), patienceMs)
    })
  })
  gone.catch(() => {})
  return {
    gone,
    end: () => {
      clearTimeout(timer)
      undo()
    },
  }
}

function wentAway(): Problem {
  return new Problem('The host went away in the middle of this; start it again with: atrium serve')
}

/** What is not there in time is a sentence, and exit 3. Without a time it is waited for as long as it takes. */
export async function within<T>(seconds: number | undefined, wanted: Promise<T>, what: string): Promise<T> {
  if (seconds === undefined) return wanted
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const sentence = `${what} in ${seconds} s; it may still.`
    timer = setTimeout(() => reject(new Problem(sentence, exits.timeout)), seconds * 1000)
  })
  return Promise.race([wanted, late]).finally(() => clearTimeout(timer))
}

/** Seconds as they are typed, and no more than a timer can hold. */
export function secondsIn(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN
  if (seconds > 0 && seconds <= 2_000_000) return seconds
  throw new Problem(`${flag} must be a number of seconds, and not '${text}'.`, exits.usage)
}
