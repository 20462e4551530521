import type { ClientMethod, Params, Result } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { Check } from '../shared/check.ts'
import { messageOf } from '../shared/errors.ts'

/** The host's requests that the app answers, such as reads of the app's own files. All other requests are refused. */
export type HostRequests = {
  readonly [M in ClientMethod]?: (params: Params<M>) => Result<M> | Promise<Result<M>>
}

export interface AnswerContext {
  readonly hostRequests: HostRequests
  readonly check: Check
  readonly report: (error: unknown) => void
}

type Answer = (params: unknown) => unknown

/**
 * Answers a request of the host. If the app throws an exception, it is passed to `report`, and the host gets only an
 * internal error.
 */
export async function answer(
  { hostRequests, check, report }: AnswerContext,
  method: string,
  params: unknown,
): Promise<unknown> {
  // The method comes from the wire, so the look-up uses a Map: an object would also find names such as `constructor`.
  // Each function gets the params that `check` has decoded for its method.
  const answerTo = new Map(Object.entries(hostRequests) as [string, Answer][]).get(method)
  if (!answerTo) throw AhpError.methodNotFound(method)
  let decoded: unknown
  try {
    // All keys of `HostRequests` are of the type `ClientMethod`: hence the cast.
    decoded = check.params(method as ClientMethod, params ?? {})
  } catch (error) {
    throw AhpError.invalidParams(messageOf(error))
  }
  try {
    return await answerTo(decoded)
  } catch (error) {
    if (error instanceof AhpError) throw error
    report(error)
    throw AhpError.internalError()
  }
}
