/** The outcomes of the actions of one client: each has exactly one (I5). An action with `clientSeq` 0 has no number. */
export class Outcomes {
  readonly #seqs = new Map<number, number>()

  /** Learns an outcome, by its number. Returns the problem if the action had another one before. */
  problem(clientSeq: number, seq: number): string | undefined {
    const before = this.#seqs.get(clientSeq) ?? seq
    if (clientSeq > 0) this.#seqs.set(clientSeq, before)
    return before === seq ? undefined : `its ${clientSeq} has two outcomes, ${before} and ${seq}`
  }

  has(clientSeq: number): boolean {
    return this.#seqs.has(clientSeq)
  }
}
