import type { World } from '../../ports/world.ts'

/** Milliseconds without output until the first notice. Each further notice comes after twice the silence of the last one. */
const firstNoticeMs = 30_000

interface SilenceOptions {
  readonly world: World
  /** True while a user is asked for input: users may take any time, so the silence is not the agent's. */
  readonly isInputNeeded: () => boolean
  /** Shows a notice. `duration` is a text such as `60 s`. */
  readonly notify: (duration: string) => void
}

/** Notices that an agent has produced no output for a while. Silence never fails a turn. */
export class SilenceTimer {
  readonly #options: SilenceOptions
  #lastOutputAt: number
  /** The duration of the silence that the last notice reported, in milliseconds; 0 when no notice is shown. */
  #noticedMs = 0
  #cancelTimer = () => {}

  constructor(options: SilenceOptions) {
    this.#options = options
    this.#lastOutputAt = options.world.now()
  }

  start(): void {
    this.#schedule(firstNoticeMs)
  }

  stop(): void {
    this.#cancelTimer()
  }

  /** Whether a notice is shown that the next output must replace. */
  get noticeShown(): boolean {
    return this.#noticedMs > 0
  }

  /** Records that the agent has just produced output. */
  outputSeen(): void {
    this.#lastOutputAt = this.#options.world.now()
  }

  /** Makes the next notice a first notice again. The caller has already replaced the notice that was shown. */
  clearNotice(): void {
    this.#noticedMs = 0
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer = this.#options.world.later(delayMs, () => this.#check())
  }

  #check(): void {
    const { world, isInputNeeded, notify } = this.#options
    if (isInputNeeded()) this.#lastOutputAt = world.now()
    const silentMs = world.now() - this.#lastOutputAt
    const before = this.#noticedMs
    while (silentMs >= this.#nextNoticeMs) this.#noticedMs = this.#nextNoticeMs
    if (this.#noticedMs > before) notify(durationText(this.#noticedMs))
    // The delay is bounded on both sides, because the clock may have jumped in either direction.
    this.#schedule(Math.min(this.#nextNoticeMs, Math.max(1, this.#nextNoticeMs - silentMs)))
  }

  get #nextNoticeMs(): number {
    return this.#noticedMs === 0 ? firstNoticeMs : 2 * this.#noticedMs
  }
}

function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}
