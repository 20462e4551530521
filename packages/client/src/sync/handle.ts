import type { Uri } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import type { Channel, ChannelStatus } from './channel.ts'
import type { ActionOn, StateOf } from '@atrium/protocol/kind-types'
import type { PendingAction } from './replica.ts'
import type { Outcome } from './pending-actions.ts'

/** What a handle needs of the client that gave it. */
export interface Dispatcher {
  dispatch(channel: Uri, action: { readonly type: string }): Promise<Outcome>
  release(channel: Channel): void
}

/** A handle on a channel. Many may hold one on the same; the channel is left when the last is released. */
export class Subscription<K extends KindName> {
  readonly uri: Uri
  readonly kind: K
  readonly #desk: Dispatcher
  readonly #channel: Channel
  readonly #undo = new Set<() => void>()
  /** Those who wait for a state. */
  readonly #waiting = new Set<() => void>()
  #released = false

  constructor(desk: Dispatcher, kind: K, channel: Channel) {
    this.uri = channel.uri
    this.kind = kind
    this.#desk = desk
    this.#channel = channel
    channel.handleCount++
  }

  /** What to show: the host's state with everything pending over it. The same object until something changes. */
  get state(): StateOf<K> | undefined {
    return this.#channel.state as StateOf<K> | undefined
  }

  /** The host's state alone. */
  get confirmed(): StateOf<K> | undefined {
    return this.#channel.replica?.confirmed as StateOf<K> | undefined
  }

  /** The number up to which that is so. */
  get seq(): number | undefined {
    return this.#channel.replica?.seq
  }

  get pending(): readonly PendingAction[] {
    return this.#channel.replica?.pending ?? []
  }

  get status(): ChannelStatus {
    return this.#channel.status
  }

  /** Why it is gone. */
  get problem(): Error | undefined {
    return this.#channel.problem
  }

  /** The first state; rejects when there is no such channel, or the handle is released before. */
  ready(): Promise<StateOf<K>> {
    return this.until(() => true)
  }

  /** The state as soon as it is as wished; rejects when the channel is gone, or the handle is released. */
  until(wished: (state: StateOf<K>) => boolean): Promise<StateOf<K>> {
    return new Promise((resolve, reject) => {
      let end = () => {}
      const look = () => {
        const { state } = this
        if (this.#released) reject(new Error(`${this.uri} was released`))
        else if (this.status === 'gone') reject(this.problem ?? new Error(`${this.uri} is gone`))
        else if (state !== undefined && wished(state)) resolve(state)
        else return
        end()
        this.#waiting.delete(look)
      }
      end = this.onChange(look)
      this.#waiting.add(look)
      look()
    })
  }

  /** Told after every change of the state, of what is pending, or of the status. What comes back ends it. */
  onChange(listener: () => void): () => void {
    const undo = this.#channel.changes.add(listener)
    this.#undo.add(undo)
    return () => {
      this.#undo.delete(undo)
      undo()
    }
  }

  /** Shown at once, and sent; the promise says what became of it and never rejects. */
  dispatch(action: ActionOn<K>): Promise<Outcome> {
    return this.#desk.dispatch(this.uri, action)
  }

  release(): void {
    if (this.#released) return
    this.#released = true
    for (const look of Array.from(this.#waiting)) look()
    for (const undo of this.#undo) undo()
    this.#undo.clear()
    this.#desk.release(this.#channel)
  }
}
