import type { AgentAction } from '@atrium/host/ports/agent'
import { parseAgentAction } from '@atrium/host/turn/agent-output'

/** Pauses and resumes reading from the agent. */
export interface FlowControl {
  pause(): void
  resume(): void
}

/** The actions of a turn, in order. Reading from the agent is paused while too many actions are unread. */
export class OutputStream {
  readonly flow: FlowControl
  readonly #unread: AgentAction[] = []
  #wake = () => {}
  #ended = false
  #failure: unknown
  #paused = false

  constructor(flow: FlowControl) {
    this.flow = flow
  }

  /**
   * Adds an action. An invalid action is dropped and the turn goes on, because any value of an action may come from the
   * agent.
   */
  write(action: AgentAction): void {
    if (this.#ended || !isValid(action)) return
    this.#unread.push(action)
    this.#wake()
    if (this.#paused || this.#unread.length < maxUnread) return
    this.#paused = true
    this.flow.pause()
  }

  /** Ends the stream. If a failure is given, the reader gets all actions and then throws the failure. */
  end(failure?: unknown): void {
    if (this.#ended) return
    this.#ended = true
    this.#failure = failure
    this.#wake()
  }

  async *actions(): AsyncIterable<AgentAction> {
    try {
      for (;;) {
        for (let next = this.#unread.shift(); next; next = this.#unread.shift()) {
          yield next
          if (this.#unread.length === 0) this.#resume()
        }
        if (this.#ended) break
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      // A reader that stops early must not leave the agent paused, because other chats use the same process.
      this.#ended = true
      this.#resume()
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  #resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.flow.resume()
  }
}

const maxUnread = 512

function isValid(action: AgentAction): boolean {
  // Text actions are by far the most frequent and contain only strings, so they need no check.
  if (action.type === 'chat/delta' || action.type === 'chat/reasoning') return true
  try {
    parseAgentAction(action, 'turn')
    return true
  } catch {
    return false
  }
}
