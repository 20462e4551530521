import type { Said } from '@atrium/host/ports/agent'

/** Who can be made to wait. */
export interface Flow {
  pause(): void
  resume(): void
}

/** What is said in a turn, in order, for whoever listens. Beyond so many words that nobody has heard, the speaker has to wait. */
export class Voice {
  readonly flow: Flow
  readonly #said: Said[] = []
  #wake = () => {}
  #over = false
  #failure: unknown
  #paused = false

  constructor(flow: Flow) {
    this.flow = flow
  }

  say(said: Said): void {
    if (this.#over) return
    this.#said.push(said)
    this.#wake()
    if (this.#paused || this.#said.length < mostUnheard) return
    this.#paused = true
    this.flow.pause()
  }

  /** There is no more; with a failure where the turn has failed. */
  end(failure?: unknown): void {
    if (this.#over) return
    this.#over = true
    this.#failure = failure
    this.#wake()
  }

  async *words(): AsyncIterable<Said> {
    try {
      for (;;) {
        for (let next = this.#said.shift(); next; next = this.#said.shift()) {
          yield next
          if (this.#said.length === 0) this.#release()
        }
        if (this.#over) break
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      // Whoever has turned away must not hold up the others.
      this.#over = true
      this.#release()
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  #release(): void {
    if (!this.#paused) return
    this.#paused = false
    this.flow.resume()
  }
}

const mostUnheard = 512
