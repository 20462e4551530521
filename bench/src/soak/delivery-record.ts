import type { Envelope } from '@atrium/protocol/channel'

/**
 * Every envelope of one channel that any client received, by its `serverSeq`. At the end, the log must contain the
 * same envelopes.
 */
export class DeliveryRecord {
  readonly #delivered = new Map<number, string>()
  /**
   * The numbers N of the rejections "already accepted as N". The log must contain an envelope with each of these
   * numbers.
   */
  readonly #named = new Set<number>()

  get size(): number {
    return this.#delivered.size
  }

  /** Records an envelope. Returns a problem if another action was delivered under the same number before. */
  add({ serverSeq, action, rejectionReason }: Envelope): string | undefined {
    if (rejectionReason !== undefined) return this.#addRejection(rejectionReason)
    const text = JSON.stringify(action)
    const before = this.#delivered.get(serverSeq)
    this.#delivered.set(serverSeq, before ?? text)
    return before === undefined || before === text
      ? undefined
      : `number ${serverSeq} was delivered as ${before} and as ${text}`
  }

  /** Compares the record with the log of the host. Returns the problems. */
  audit(log: readonly Envelope[]): readonly string[] {
    const stored = new Map(log.map(({ serverSeq, action }) => [serverSeq, JSON.stringify(action)]))
    const lost = [...this.#delivered].filter(([seq, text]) => stored.get(seq) !== text)
    const missing = [...this.#named].filter((seq) => !stored.has(seq))
    return [
      ...lost.map(([seq, text]) => `${seq} was delivered as ${text} and the log has ${stored.get(seq)}`),
      ...missing.map((seq) => `${seq} was reported as accepted and is not in the log`),
    ]
  }

  #addRejection(reason: string): undefined {
    const named = /^already accepted as (\d+)$/.exec(reason)?.[1]
    if (named !== undefined) this.#named.add(Number(named))
    return undefined
  }
}
