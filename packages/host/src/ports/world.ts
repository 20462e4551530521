/** Time, random numbers and the scheduler: everything that a simulation must control. */
export interface World {
  /**
   * Wall time in milliseconds. It may jump forwards and backwards, so nothing may go wrong for good if a period that
   * is measured with it is too long, too short or negative.
   */
  now(): number
  /** A new identifier of at least 128 random bits. */
  id(): string
  /** Runs a task after the current synchronous step, before any event from outside. */
  soon(task: () => void): void
  /** Runs a task once after this time. Returns a function that cancels the task. */
  later(ms: number, task: () => void): () => void
  /** Reports an internal problem. The detail must not contain secrets. */
  report(event: string, detail?: unknown): void
}
