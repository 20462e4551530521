import type { ClientMethod, Params, Result } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { Check } from '../shared/check.ts'
import { messageOf } from '../shared/errors.ts'

/** What the app answers when the host asks: its own files, above all. What is not here is refused. */
export type HostRequests = {
  readonly [M in ClientMethod]?: (params: Params<M>) => Result<M> | Promise<Result<M>>
}

type Answer = (params: unknown) => unknown

/** Answers the host, or says why not; what goes wrong in the app itself is reported here and kept from the host. */
export async function answer(
  offers: HostRequests,
  check: Check,
  method: string,
  params: unknown,
  report: (error: unknown) => void,
): Promise<unknown> {
  const offered = new Map(Object.entries(offers) as [string, Answer][]).get(method)
  if (!offered) throw AhpError.methodNotFound(method)
  let asked: unknown
  try {
    asked = check.params(method as ClientMethod, params ?? {})
  } catch (error) {
    throw AhpError.invalidParams(messageOf(error))
  }
  try {
    return await offered(asked)
  } catch (error) {
    if (error instanceof AhpError) throw error
    report(error)
    throw AhpError.internalError()
  }
}
