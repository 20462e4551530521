import type { Core } from './core.ts'

/** The result of a command whose response comes later. The client's next request need not wait for the response. */
export class DeferredResponse {
  readonly response: Promise<unknown>

  constructor(response: Promise<unknown>) {
    this.response = response
  }

  /** Returns a deferred response whose result, or error, is made from the one of this. */
  map(made: (result: unknown) => unknown, failed?: (error: unknown) => never): DeferredResponse {
    return new DeferredResponse(this.response.then(made, failed))
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

/** Defers the response of a command that has returned a promise. */
export function deferredIfLate(outcome: unknown): unknown {
  return outcome instanceof Promise ? new DeferredResponse(outcome) : outcome
}
