import type { Transport } from '@atrium/protocol/rpc/transport'
import { messageOf } from '../shared/errors.ts'
import type { World } from '../shared/world.ts'
import { Refused } from './reconnect.ts'

/** The time after which the next address is tried. A stopped host accepts a socket and never answers. */
const openMs = 5_000

/**
 * Returns a function that opens a transport to the first of these addresses that answers. It begins with the address that
 * answered last. It throws `Refused` if every address has refused the client: a further attempt would fail, too.
 */
export function firstOpen(
  urls: readonly string[],
  open: (url: string) => Promise<Transport>,
  world: World,
): () => Promise<Transport> {
  let first = 0
  return async () => {
    const problems: unknown[] = []
    for (let tried = 0; tried < urls.length; tried++) {
      const at = (first + tried) % urls.length
      try {
        const transport = await inTime(open(urls[at] ?? ''), world)
        first = at
        return transport
      } catch (error) {
        problems.push(error)
      }
    }
    // A failed address is not the first one of the next attempt.
    first = (first + 1) % urls.length
    const sentence = [...new Set(problems.map(messageOf))].join('; ')
    throw problems.every((problem) => problem instanceof Refused)
      ? new Refused(sentence)
      : new Error(sentence)
  }
}

/** Waits for a transport. A transport that opens too late is closed. */
function inTime(opening: Promise<Transport>, world: World): Promise<Transport> {
  return new Promise((resolve, reject) => {
    let late = false
    const cancel = world.after(openMs, () => {
      late = true
      reject(new Error('the host did not answer in time'))
    })
    opening.then(
      (transport) => {
        cancel()
        if (late) transport.close(1000)
        else resolve(transport)
      },
      (error: unknown) => {
        cancel()
        reject(error)
      },
    )
  })
}
