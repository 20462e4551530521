import type { Uri } from '@atrium/protocol/channel'
import { compact } from '@atrium/protocol/update'
import type { Channel } from './channel.ts'
import type { Handed } from './clients.ts'
import type { Core } from './core.ts'
import type { Listener } from './entry.ts'
import { rest } from './rest.ts'
import type { View } from './snapshot.ts'

/** How a subscriber wants to see a channel. */
interface How {
  readonly view: View
  readonly latency: number | undefined
}

const plainly: How = { view: {}, latency: undefined }

/** The channels that one link follows. */
export class Following {
  readonly #core: Core
  readonly #listener: Listener
  readonly #channels = new Map<Channel, How>()

  constructor(core: Core, listener: Listener) {
    this.#core = core
    this.#listener = listener
  }

  /** The smallest that any of its subscriptions asked for. */
  get latency(): number {
    const asked = [...this.#channels.values()].flatMap(({ latency }) => latency ?? [])
    return asked.length === 0 ? 0 : Math.max(0, Math.min(...asked, this.#core.limits.latencyMs))
  }

  how(channel: Channel): How {
    return this.#channels.get(channel) ?? plainly
  }

  find(uri: Uri): Channel | undefined {
    return [...this.#channels.keys()].find((channel) => channel.uri === uri)
  }

  /** Those that are no more: when everyone was told so, the log let go of their listeners. */
  get gone(): readonly Channel[] {
    return [...this.#channels.keys()].filter(({ listeners }) => !listeners.has(this.#listener))
  }

  /** Whether one more can be followed. */
  admits(uri: Uri): boolean {
    return this.#channels.size < this.#core.limits.subscriptions || this.find(uri) !== undefined
  }

  add(channel: Channel, how: How = this.how(channel)): void {
    channel.listeners.add(this.#listener)
    this.#channels.set(channel, how)
  }

  /** As it was before the link broke. */
  restore(channel: Channel, { turns, maxLatencyMs }: Partial<Handed> = {}): void {
    this.add(channel, { view: turns === undefined ? {} : { turns }, latency: maxLatencyMs })
  }

  remove(channel: Channel): void {
    channel.listeners.delete(this.#listener)
    this.#channels.delete(channel)
    rest(this.#core, channel)
  }

  retain(channels: readonly Channel[]): void {
    for (const channel of this.#channels.keys()) if (!channels.includes(channel)) this.remove(channel)
  }

  clear(): void {
    for (const channel of this.#channels.keys()) this.remove(channel)
  }

  /** What is remembered of it beyond this link. */
  handed(channel: Channel, seen: number): Handed {
    const { view, latency } = this.how(channel)
    const fromSeq = this.#core.log.told
    const unsure = seen >= fromSeq || undefined
    return compact<Handed>({ fromSeq, unsure, turns: view.turns, maxLatencyMs: latency })
  }
}
