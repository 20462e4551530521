/** Locks on directory entries: changes of one name run one after another, in the order in which they were asked for. */
export class NameLock {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs a task that holds the locks of all these names. They are taken in one step, so no two tasks can deadlock. */
  async run<T>(names: readonly string[], task: () => Promise<T>): Promise<T> {
    const result = Promise.all(names.flatMap((name) => this.#last.get(name) ?? [])).then(task)
    const done = result.then(
      () => {},
      () => {},
    )
    for (const name of names) this.#last.set(name, done)
    try {
      return await result
    } finally {
      for (const name of names) if (this.#last.get(name) === done) this.#last.delete(name)
    }
  }
}
