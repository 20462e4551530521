/** Time and random numbers, injected so that a simulation can control them. */
export interface World {
  /** Runs a task after this time. Returns a function that cancels it. */
  after(ms: number, task: () => void): () => void
  /** Returns a number from 0 up to, but not including, 1. */
  random(): number
}
