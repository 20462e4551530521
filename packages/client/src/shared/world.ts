/** Time and chance come in from outside, so that a simulation can own them. */
export interface World {
  /** Runs a task after so many milliseconds; what comes back calls it off. */
  after(ms: number, task: () => void): () => void
  /** From 0 up to, and without, 1. */
  random(): number
}
