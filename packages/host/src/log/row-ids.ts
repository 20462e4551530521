/** The ids of a channel's rows, in order: whether one is there, and where, is known without looking for it. */
export class RowIds {
  readonly #list: string[] = []
  readonly #places = new Map<string, number>()

  constructor(ids: Iterable<string>) {
    for (const id of ids) this.add(id)
  }

  get length(): number {
    return this.#list.length
  }

  has(id: string): boolean {
    return this.#places.has(id)
  }

  /** -1: it is not there. */
  indexOf(id: string): number {
    return this.#places.get(id) ?? -1
  }

  at(place: number): string | undefined {
    return this.#list[place]
  }

  slice(from: number, to: number): readonly string[] {
    return this.#list.slice(from, to)
  }

  add(id: string): void {
    this.#places.set(id, this.#list.length)
    this.#list.push(id)
  }

  /** Leaves so many, and gives those that go. */
  cut(length: number): readonly string[] {
    const gone = this.#list.splice(length)
    for (const id of gone) this.#places.delete(id)
    return gone
  }
}
