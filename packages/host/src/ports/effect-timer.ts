/**
 * Ends the effects of this node (agents, shells, MCP servers, hooks) unless the lease is renewed in time. It counts outside of the
 * host's own process, because a stopped process can end nothing.
 */
export interface EffectTimer {
  /**
   * Begins to count for an acquisition or renewal of the lease that is about to be sent. Resolves with the number of the mark
   * when the count has begun. Rejects if nothing counts.
   */
  mark(): Promise<number>
  /** Ends the counts of earlier marks, because the lease was acquired or renewed after this mark. */
  confirm(mark: number): void
  /** Ends all effects now. The node is not the owner any more. */
  expire(): void
  /** Ends all counts and no effects, because the host has ended them and has released the lease. */
  stop(): void
}
