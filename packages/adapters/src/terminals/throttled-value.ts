/**
 * A value such as a title. Each emitted value is stored, so it is emitted at most once per interval: the first change at
 * once, later ones when the interval is over.
 */
export class ThrottledValue {
  readonly #emit: (value: string) => void
  readonly #intervalMs: number
  #emitted: string | undefined
  #next: string | undefined
  #timer: NodeJS.Timeout | undefined

  /** `initial` counts as already emitted. */
  constructor(emit: (value: string) => void, intervalMs: number, initial?: string) {
    this.#emit = emit
    this.#intervalMs = intervalMs
    this.#emitted = initial
  }

  set(value: string): void {
    this.#next = value
    if (!this.#timer) this.#flush()
  }

  /** Emits the last value at once. Nothing is emitted afterwards. */
  end(): void {
    this.#flush()
    clearTimeout(this.#timer)
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const value = this.#next
    this.#next = undefined
    if (value === undefined || value === this.#emitted) return
    this.#emitted = value
    this.#emit(value)
    this.#timer = setTimeout(() => this.#flush(), this.#intervalMs)
    this.#timer.unref()
  }
}
