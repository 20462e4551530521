import { McpFailed } from '@atrium/host/ports/mcp'
import type { McpAnswers, McpCall, McpProgress, McpQuestions } from '@atrium/host/ports/mcp'
import type { World } from '@atrium/host/ports/world'
import type { Progress } from '@modelcontextprotocol/client'
import { visibleText } from '@atrium/protocol/text/visible'
import type { McpLimits } from './context.ts'

/**
 * A running call: its clock, its progress and its questions. The clock counts the time without news of the server. It stands
 * still while a person is asked.
 */
export class RunningCall {
  /** Aborted when the caller cancels, and when the time is over. The reason is an `McpFailed`. */
  readonly signal: AbortSignal
  /** Rejects as soon as the call is over without a result. */
  readonly failed: Promise<never>
  readonly #abort = new AbortController()
  readonly #call: McpCall
  readonly #later: World['later']
  readonly #limits: McpLimits
  readonly #cancelled = () => this.fail('The call was cancelled.')
  #stopClock = () => {}
  #asking = 0
  #forms = 0
  #progress: McpProgress | undefined
  #progressWaits = false
  #cancelProgress = () => {}

  constructor(call: McpCall, later: World['later'], limits: McpLimits) {
    this.#call = call
    this.#later = later
    this.#limits = limits
    this.signal = this.#abort.signal
    this.failed = new Promise((_, reject) =>
      this.signal.addEventListener('abort', () => reject(this.signal.reason)),
    )
    // Nobody awaits this promise once the call has its result. A later rejection must not count as unhandled.
    this.failed.catch(() => {})
    call.signal.addEventListener('abort', this.#cancelled)
    if (call.signal.aborted) this.#cancelled()
    this.#restartClock()
  }

  /** Ends the call without a result. */
  fail(message: string): void {
    this.#abort.abort(new McpFailed(message))
  }

  /** Reports the progress of the call: the first report comes at once, later reports at intervals. */
  reportProgress({ progress, total, message }: Progress): void {
    this.#restartClock()
    this.#progress = {
      ...(total !== undefined && total > 0 && { fraction: Math.min(Math.max(progress / total, 0), 1) }),
      ...(message !== undefined && { message: visibleText(message.slice(0, maxMessage)) }),
    }
    if (!this.#progressWaits) this.#tellProgress()
  }

  /**
   * Counts a form of the server. A form that cannot be shown counts too, because the server could send it again for
   * ever. Throws if there were too many forms.
   */
  countForm(): void {
    const { mcpQuestions } = this.#limits
    if (++this.#forms > mcpQuestions)
      this.fail(`The MCP server asked more than ${mcpQuestions} times in one call.`)
    this.signal.throwIfAborted()
  }

  /** Asks a person. Rejects if the call is over. */
  async ask(questions: McpQuestions): Promise<McpAnswers> {
    this.#asking++
    this.#stopClock()
    try {
      return await Promise.race([this.#call.elicit(questions), this.failed])
    } finally {
      this.#asking--
      this.#restartClock()
    }
  }

  /** Waits a moment. Used when the server wants to be called again and has asked no question. */
  async rest(): Promise<void> {
    this.countForm()
    const pause = new Promise<void>((resolve) => void this.#later(restMs, resolve))
    await Promise.race([pause, this.failed])
  }

  /** Called when the call has its result. */
  end(): void {
    this.#call.signal.removeEventListener('abort', this.#cancelled)
    this.#stopClock()
    this.#cancelProgress()
    this.#progressWaits = true
  }

  #restartClock(): void {
    this.#stopClock()
    if (this.#asking > 0 || this.signal.aborted) return
    const ms = this.#limits.mcpCallMs
    this.#stopClock = this.#later(ms, () =>
      this.fail(`The MCP server did not answer the call within ${Math.round(ms / 1000)} s.`),
    )
  }

  #tellProgress(): void {
    const progress = this.#progress
    this.#progress = undefined
    this.#progressWaits = progress !== undefined
    if (!progress) return
    this.#cancelProgress = this.#later(this.#limits.mcpProgressMs, () => this.#tellProgress())
    this.#call.progress(progress)
  }
}

const maxMessage = 1000
const restMs = 250
