import { AhpError } from '@atrium/protocol/errors'
import type { LimitValues } from '@atrium/protocol/limits'
import type { Listener } from '../../kernel/log/entry.ts'

/** Counts the calls about the past that run or wait, for each link and in all, and refuses those beyond the limits. */
export class CallCount {
  readonly #limits: Pick<LimitValues, 'historyCalls' | 'historyCallsOfAll'>
  readonly #ofLinks = new Map<Listener, number>()
  #ofAll = 0

  constructor(limits: Pick<LimitValues, 'historyCalls' | 'historyCallsOfAll'>) {
    this.#limits = limits
  }

  /** Runs a call. Throws if too many calls are running or waiting. */
  async counted<R>(method: string, link: Listener, run: () => Promise<R>): Promise<R> {
    const { historyCalls, historyCallsOfAll } = this.#limits
    const own = this.#ofLinks.get(link) ?? 0
    if (own >= historyCalls)
      throw AhpError.permissionDenied(
        `${method}: this client has ${own} such calls already; wait for an answer`,
      )
    if (this.#ofAll >= historyCallsOfAll)
      throw AhpError.permissionDenied(`${method}: the host has ${this.#ofAll} such calls already; try again`)
    this.#ofLinks.set(link, own + 1)
    this.#ofAll++
    try {
      return await run()
    } finally {
      this.#ofAll--
      const left = (this.#ofLinks.get(link) ?? 1) - 1
      if (left > 0) this.#ofLinks.set(link, left)
      else this.#ofLinks.delete(link)
    }
  }
}
