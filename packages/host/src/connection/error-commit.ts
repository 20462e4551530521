import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import type { Core } from '../kernel/core.ts'
import { DeferredResponse } from '../kernel/deferred-response.ts'

const missing = new Set<number>([errorCodes.NotFound, errorCodes.SessionNotFound])
const taken = new Set<number>([errorCodes.AlreadyExists, errorCodes.SessionAlreadyExists])

/**
 * Returns the outcome of a command, whose error may wait. The error that a channel is missing waits until the removal of the
 * channel is committed, and the error that it exists waits until its creation is. Otherwise a crash could make the error
 * untrue: a client that repeats a creation takes "exists" for the success of the first one.
 */
export function withCommittedError(core: Core, params: object, outcome: unknown): unknown {
  const rethrow = async (error: unknown): Promise<never> => {
    if (error instanceof AhpError) await committed(core, params, error.code)
    throw error
  }
  if (outcome instanceof DeferredResponse) return new DeferredResponse(outcome.response.catch(rethrow))
  if (!(outcome instanceof Promise)) return outcome
  return outcome.then((result: unknown) => withCommittedError(core, params, result), rethrow)
}

async function committed({ log }: Core, params: object, code: number): Promise<void> {
  for (const uri of textsIn(params)) {
    if (missing.has(code)) await log.removed(uri)
    const channel = taken.has(code) ? log.channel(uri) : undefined
    if (channel) await log.when(channel, () => true)
  }
}

/** The texts in params, also those in their objects and arrays. The names of channels are among them. */
function textsIn(params: object): readonly Uri[] {
  return Object.values(params).flatMap((value: unknown) => {
    const inner: readonly unknown[] =
      typeof value === 'object' && value !== null ? Object.values(value) : [value]
    return inner.filter((each) => typeof each === 'string')
  })
}
