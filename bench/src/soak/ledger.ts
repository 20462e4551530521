import type { Envelope } from '@atrium/protocol/channel'

/** What anybody was ever told of one channel, by number: the host must still say the same at the end. */
export class Ledger {
  readonly #told = new Map<number, string>()
  /** Numbers that a refusal named as accepted before. */
  readonly #named = new Set<number>()

  get size(): number {
    return this.#told.size
  }

  /** Gives what is wrong: a number stands for one action, for ever. */
  note({ serverSeq, action, rejectionReason }: Envelope): string | undefined {
    if (rejectionReason !== undefined) return this.#refused(rejectionReason)
    const text = JSON.stringify(action)
    const before = this.#told.get(serverSeq)
    this.#told.set(serverSeq, before ?? text)
    return before === undefined || before === text
      ? undefined
      : `number ${serverSeq} was told as ${before} and as ${text}`
  }

  /** What is wrong with the log that the host shows in the end. */
  audit(log: readonly Envelope[]): readonly string[] {
    const kept = new Map(log.map(({ serverSeq, action }) => [serverSeq, JSON.stringify(action)]))
    const lost = [...this.#told].filter(([seq, text]) => kept.get(seq) !== text)
    const unnamed = [...this.#named].filter((seq) => !kept.has(seq))
    return [
      ...lost.map(([seq, text]) => `${seq} was told as ${text} and the log has ${kept.get(seq)}`),
      ...unnamed.map((seq) => `${seq} was said to be accepted and is not in the log`),
    ]
  }

  #refused(reason: string): undefined {
    const named = /^already accepted as (\d+)$/.exec(reason)?.[1]
    if (named !== undefined) this.#named.add(Number(named))
    return undefined
  }
}
