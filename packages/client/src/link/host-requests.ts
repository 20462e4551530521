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

/** Answers a request of the host. An exception of the app is reported here, and the host gets only an internal error. */
export async function answer(
  { hostRequests, check, report }: AnswerContext,
  method: string,
  params: unknown,
): Promise<unknown> {
  // A Map, because the method comes from the wire; each function gets the params that `check` has decoded for its method.
  const answerTo = new Map(Object.entries(hostRequests) as [string, Answer][]).get(method)
  if (!answerTo) throw AhpError.methodNotFound(method)
  let decoded: unknown
  try {
    // A key of `HostRequests` is a `ClientMethod`.
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
