import type { AgentAction } from '@atrium/host/ports/agent'
import { parseAgentAction } from '@atrium/host/turn/agent-output'

/** Who can be made to wait. */
export interface Flow {
  pause(): void
  resume(): void
}

/** What is said in a turn, in order, for whoever listens. Beyond so many words that nobody has heard, the speaker has to wait. */
export class Voice {
  readonly flow: Flow
  readonly #said: AgentAction[] = []
  #wake = () => {}
  #over = false
  #failure: unknown
  #paused = false

  constructor(flow: Flow) {
    this.flow = flow
  }

  /** What has not its shape is not said: an agent may have put anything into it, and that is no reason to end its turn. */
  say(said: AgentAction): void {
    if (this.#over || !isSound(said)) return
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

  async *words(): AsyncIterable<AgentAction> {
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

function isSound(said: AgentAction): boolean {
  // Nearly all that is said, and made of nothing but text.
  if (said.type === 'chat/delta' || said.type === 'chat/reasoning') return true
  try {
    parseAgentAction(said, 'turn')
    return true
  } catch {
    return false
  }
}
