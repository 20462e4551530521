import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../agents/failure.ts'

/** After `ms` milliseconds a state that does not come is a failure. A busy machine needs more. */
export const patience = { ms: 60_000 }

/** Waits until the function returns a value that is neither false nor undefined, and returns it. */
export async function until<T>(
  look: () => Promise<T | false | undefined> | T | false | undefined,
  what: string | (() => string),
  ms = patience.ms,
): Promise<T> {
  const end = performance.now() + ms
  for (;;) {
    const found = await look()
    if (found !== false && found !== undefined) return found
    if (performance.now() > end) throw new Failure(`timed out: ${typeof what === 'string' ? what : what()}`)
    await sleep(intervalMs)
  }
}

/** Milliseconds between two looks. */
const intervalMs = 80
