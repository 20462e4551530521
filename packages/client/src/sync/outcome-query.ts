import type { Uri } from '@atrium/protocol/channel'
import type { PendingActions } from './pending-actions.ts'
import type { World } from '../shared/world.ts'

/** So long a wish may be unanswered before its channel is asked after; then twice as long, up to a minute. */
const firstMs = 5_000
const lastMs = 60_000

/** A host says nothing of what is wished in a channel that it has not. So whoever waits long asks whether it is there. */
export class OutcomeQuery {
  readonly #world: World
  readonly #wishes: PendingActions
  readonly #ask: (channel: Uri) => void
  #callOff: (() => void) | undefined

  constructor(world: World, wishes: PendingActions, ask: (channel: Uri) => void) {
    this.#world = world
    this.#wishes = wishes
    this.#ask = ask
  }

  /** Something was sent: one timer for all that wait. */
  begin(ms = firstMs): void {
    if (this.#callOff) return
    const waiting = new Set(this.#wishes.sent)
    this.#callOff = this.#world.after(ms, () => {
      this.#callOff = undefined
      const unanswered = this.#wishes.sent.filter((wish) => waiting.has(wish))
      for (const channel of new Set(unanswered.map((wish) => wish.channel))) this.#ask(channel)
      if (this.#wishes.sent.length > 0) this.begin(unanswered.length > 0 ? Math.min(2 * ms, lastMs) : firstMs)
    })
  }

  end(): void {
    this.#callOff?.()
    this.#callOff = undefined
  }
}
