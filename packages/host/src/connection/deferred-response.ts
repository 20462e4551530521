import type { Core } from '../core/core.ts'

/** The result of a command whose response comes later. The client's next request need not wait for the response. */
export class DeferredResponse {
  readonly response: Promise<unknown>

  constructor(response: Promise<unknown>) {
    this.response = response
  }

  /** Returns a deferred response whose result is made from the result of this one. */
  map(made: (result: unknown) => unknown): DeferredResponse {
    return new DeferredResponse(this.response.then(made))
  }
}

/** Responds when a sequence number is committed. */
export function whenCommitted(
  core: Core,
  { seq }: { readonly seq: number },
  result: object | null = null,
): DeferredResponse {
  return new DeferredResponse(core.log.reached(seq).then(() => result))
}

/** Returns the response of a command: a promise if the command has deferred its response. */
export function responseOf(outcome: unknown): unknown {
  return outcome instanceof DeferredResponse ? outcome.response : outcome
}
