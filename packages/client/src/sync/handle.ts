import type { Uri } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import type { Channel, ChannelStatus } from './channel.ts'
import type { ActionOn, StateOf } from '@atrium/protocol/kind-types'
import type { PendingAction } from './replica.ts'
import type { Outcome } from './pending-actions.ts'

/** The part of the client that a handle uses. */
export interface Dispatcher {
  dispatch(channel: Uri, action: { readonly type: string }): Promise<Outcome>
  release(channel: Channel): void
}

/** A handle on a channel. All handles on a channel share one subscription, which ends when the last handle is released. */
export class Subscription<K extends KindName> {
  readonly uri: Uri
  readonly kind: K
  readonly #dispatcher: Dispatcher
  readonly #channel: Channel
  readonly #undo = new Set<() => void>()
  /** One function for each waiting `until` call. It tests the condition of the call again. */
  readonly #waiting = new Set<() => void>()
  #released = false

  constructor(dispatcher: Dispatcher, kind: K, channel: Channel) {
    this.uri = channel.uri
    this.kind = kind
    this.#dispatcher = dispatcher
    this.#channel = channel
    channel.handleCount++
  }

  /** The host's state with the pending actions applied. The same object until something changes. */
  get state(): StateOf<K> | undefined {
    return this.#typed(this.#channel.state)
  }

  /** The host's state alone. */
  get confirmed(): StateOf<K> | undefined {
    return this.#typed(this.#channel.replica?.confirmed)
  }

  /** The sequence number of the confirmed state. */
  get seq(): number | undefined {
    return this.#channel.replica?.seq
  }

  get pending(): readonly PendingAction[] {
    return this.#channel.replica?.pending ?? []
  }

  get status(): ChannelStatus {
    return this.#channel.status
  }

  /** The reason why the channel is gone. */
  get problem(): Error | undefined {
    return this.#channel.problem
  }

  /** Resolves with the first state. Rejects when there is no such channel, or when the handle is released before. */
  ready(): Promise<StateOf<K>> {
    return this.until(() => true)
  }

  /** Resolves when a state satisfies the condition. Rejects when the channel is gone, or when the handle is released. */
  until(condition: (state: StateOf<K>) => boolean): Promise<StateOf<K>> {
    return new Promise((resolve, reject) => {
      let end = () => {}
      const check = () => {
        const { state } = this
        if (this.#released) reject(new Error(`${this.uri} was released`))
        else if (this.status === 'gone') reject(this.problem ?? new Error(`${this.uri} is gone`))
        else if (state !== undefined && condition(state)) resolve(state)
        else return
        end()
        this.#waiting.delete(check)
      }
      end = this.onChange(check)
      this.#waiting.add(check)
      check()
    })
  }

  /**
   * Calls the listener when the state, the pending actions or the status change. Returns a function that removes the
   * listener.
   */
  onChange(listener: () => void): () => void {
    const undo = this.#channel.changes.add(listener)
    this.#undo.add(undo)
    return () => {
      this.#undo.delete(undo)
      undo()
    }
  }

  /** Applies the action locally at once and sends it. The promise resolves with the outcome and never rejects. */
  dispatch(action: ActionOn<K>): Promise<Outcome> {
    return this.#dispatcher.dispatch(this.uri, action)
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    for (const check of Array.from(this.#waiting)) check()
    for (const undo of this.#undo) undo()
    this.#undo.clear()
    this.#dispatcher.release(this.#channel)
  }

  #typed(state: unknown): StateOf<K> | undefined {
    // `subscribe` has checked that the channel is of the kind K.
    return state as StateOf<K> | undefined
  }
}
