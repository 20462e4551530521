import type { Action, Uri } from '@atrium/protocol/channel'
import type { AhpError } from '@atrium/protocol/errors'
import type { Role } from '@atrium/protocol/root/device'
import type { Channel } from './log/channel.ts'
import type { Entry, Listener } from './log/entry.ts'
import type { Dispatcher } from './log/options.ts'
import type { Core } from './core.ts'
import type { DispatchLists } from './dispatch-rules.ts'
import type { Generation } from './generation.ts'
import type { Key } from './key.ts'
import type { Link, Subscriber } from './link.ts'
import type { OlderCall, OpenCommand, OpenParts, Settings } from './open-parts.ts'
import type { Opened, Part } from './part.ts'
import { Rules } from './rules.ts'
import type { StatelessChannel } from './stateless.ts'

/** Parts that are opened one after the other. */
export class PartList implements OpenParts<Core> {
  readonly #values = new Map<object, unknown>()
  readonly #opened: Opened[] = []
  readonly commands = new Map<string, OpenCommand>()
  readonly #rules = new Rules()
  #core: Core | undefined
  settings: Settings = {}

  async open<P>(parts: readonly Part<P>[], core: Core, ports: P): Promise<void> {
    this.#core = core
    for (const each of parts) {
      this.#rules.add(each.rules)
      const opened = await each.open(core, ports)
      this.#opened.push(opened)
      if (opened.key) this.#values.set(opened.key, opened.value)
      this.settings = { ...this.settings, ...opened.settings }
      for (const [name, command] of opened.commands) this.commands.set(name, command)
    }
  }

  get<V>(key: Key<V>): V {
    if (!this.#values.has(key)) throw new Error(`the part "${key.name}" is not open`)
    // The part with this key has set the value, and its type is that of the key.
    return this.#values.get(key) as V
  }

  method(name: string): ((link: Subscriber, params: unknown, as: Uri) => unknown) | undefined {
    const run = this.#rules.methods.get(name)
    return run && ((link, params, as) => run(this.#open, link, params, as))
  }

  olderMethod(name: string, generation: Generation): ((call: OlderCall) => unknown) | undefined {
    const found = this.#rules.older.find(({ method, has }) => method === name && has(generation))
    return found && ((call) => found.run({ ...call, core: this.#open }))
  }

  stateless(uri: Uri): StatelessChannel | AhpError | undefined {
    for (const find of this.#rules.stateless) {
      const found = find(this.#open, uri)
      if (found) return found
    }
    return undefined
  }

  offers(): object {
    return Object.assign({}, ...this.#rules.offers.map((offer) => offer(this.#open)))
  }

  reports(): object {
    return Object.assign({}, ...this.#rules.reports.map((report) => report(this.#open)))
  }

  subscribed(channel: Channel): void {
    this.#rules.subscribed.get(channel.kindName)?.(this.#open, channel)
  }

  refusal(channel: Channel, action: Action, by: Dispatcher): string | undefined {
    return this.#rules.guards.get(action.type)?.(action, {
      state: channel.head,
      by,
      core: this.#open,
      channel,
    })
  }

  get dispatchRules(): DispatchLists<Core> {
    return this.#rules.dispatch
  }

  role(name: string, value: unknown): Role {
    const needed = this.#rules.roles.get(name)
    // The cast is safe: the name of the command or action has chosen both the row and the schema that has checked the value.
    return typeof needed === 'function' ? needed(value as never, this.#open) : (needed ?? 'own')
  }

  effect(channel: Channel, entry: Entry): void {
    const { action } = entry
    this.#rules.effects.get(action.type)?.(this.#open, channel, action)
    this.#rules.committed.get(channel.kindName)?.(this.#open, channel, entry)
  }

  appended(channel: Channel, action: Action, by?: Dispatcher): void {
    const { classes, actions } = channel.kind
    // Only strict actions, which are stored before delivery, have follow-ups. The others are pieces of streamed text.
    if (classes.get(action.type) !== 'strict') return
    for (const { moments } of this.#opened) moments.appended?.(channel, action, by)
    if (actions.has(action.type))
      this.#rules.followUps.get(channel.kindName)?.(this.#open, channel, action, by)
  }

  committed(channel: Channel, action: Action): void {
    for (const { moments } of this.#opened) moments.committed?.(channel, action)
  }

  disposed(session: Channel<'session'>): void {
    for (const { moments } of this.#opened) moments.disposed?.(session)
  }

  clientCame(link: Link): void {
    for (const { moments } of this.#opened) moments.clientCame?.(link)
  }

  linkOpened(link: Link): void {
    for (const { moments } of this.#opened) moments.linkOpened?.(link)
  }

  clientReturned(link: Listener, seq: number): void {
    for (const { moments } of this.#opened) moments.clientReturned?.(link, seq)
  }

  clientLeft(link: Link): void {
    for (const { moments } of this.#opened) moments.clientLeft?.(link)
  }

  linkEnded(link: Link): void {
    for (const { moments } of this.#opened) moments.linkEnded?.(link)
  }

  async recover(): Promise<void> {
    for (const { moments } of this.#opened) await moments.recover?.()
  }

  started(): void {
    for (const { moments } of this.#opened) moments.started?.()
  }

  async close(): Promise<void> {
    for (const { moments } of this.#opened) await moments.close?.()
  }

  get #open(): Core {
    if (!this.#core) throw new Error('the parts are not open')
    return this.#core
  }
}
