/** Whoever changes a name waits for those who came before and change it too. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  /** All names are asked for in one step, so that no two can wait for each other. */
  async take<T>(names: readonly string[], run: () => Promise<T>): Promise<T> {
    const result = Promise.all(names.flatMap((name) => this.#last.get(name) ?? [])).then(run)
    const over = result.then(
      () => {},
      () => {},
    )
    for (const name of names) this.#last.set(name, over)
    try {
      return await result
    } finally {
      for (const name of names) if (this.#last.get(name) === over) this.#last.delete(name)
    }
  }
}
