/** Something of which only the newest counts, and which is stored: said at once, but not more often than so many ms. */
export class Fact {
  readonly #say: (value: string) => void
  readonly #everyMs: number
  #said: string | undefined
  #next: string | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(say: (value: string) => void, everyMs: number, known?: string) {
    this.#say = say
    this.#everyMs = everyMs
    this.#said = known
  }

  set(value: string): void {
    this.#next = value
    if (!this.#timer) this.settle()
  }

  /** Says what is left to be said. */
  settle(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const value = this.#next
    this.#next = undefined
    if (value === undefined || value === this.#said) return
    this.#said = value
    this.#say(value)
    this.#timer = setTimeout(() => this.settle(), this.#everyMs)
    this.#timer.unref()
  }

  /** Says it, and nothing ever after. */
  end(): void {
    this.settle()
    clearTimeout(this.#timer)
  }
}
