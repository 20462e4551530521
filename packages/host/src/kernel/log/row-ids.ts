/** The ids of a channel's rows in order. A map finds whether an id is present, and its position, without a search. */
export class RowIds {
  readonly #list: string[] = []
  readonly #positions = new Map<string, number>()

  constructor(ids: Iterable<string>) {
    for (const id of ids) this.add(id)
  }

  get length(): number {
    return this.#list.length
  }

  has(id: string): boolean {
    return this.#positions.has(id)
  }

  /** The position of an id, or -1. */
  indexOf(id: string): number {
    return this.#positions.get(id) ?? -1
  }

  at(position: number): string | undefined {
    return this.#list[position]
  }

  slice(from: number, to: number): readonly string[] {
    return this.#list.slice(from, to)
  }

  add(id: string): void {
    this.#positions.set(id, this.#list.length)
    this.#list.push(id)
  }

  /** Keeps the first `length` ids. Returns the ids that were removed. */
  cut(length: number): readonly string[] {
    const removed = this.#list.splice(length)
    for (const id of removed) this.#positions.delete(id)
    return removed
  }
}
