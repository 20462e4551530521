/** Time, chance and the scheduler: everything a simulation must own. */
export interface World {
  /** Wall time in milliseconds. It may jump; only what people see and the first number of a life depend on it. */
  now(): number
  /** A new identifier of at least 128 random bits. */
  id(): string
  /** Runs a task after the present synchronous step, before anything that comes from outside. */
  soon(task: () => void): void
  /** Runs a task once, so many milliseconds from now; gives its undo. */
  later(ms: number, task: () => void): () => void
  /** Where what goes wrong inside is told. Never told a secret. */
  report(event: string, detail?: unknown): void
}
