import type { Action, Uri } from '@atrium/protocol/channel'
import type { SessionConfigPropertySchema } from '@atrium/protocol/common/config'
import type { AhpError } from '@atrium/protocol/errors'
import type { Role } from '@atrium/protocol/root/device'
import type { Schema } from '@atrium/protocol/schema'
import type { Channel } from './log/channel.ts'
import type { Entry, Listener } from './log/entry.ts'
import type { Dispatcher } from './log/options.ts'
import type { DispatchLists } from './dispatch-rules.ts'
import type { Key } from './key.ts'
import type { Generation } from './generation.ts'
import type { Link, Subscriber } from './link.ts'
import type { StatelessChannel } from './stateless.ts'

/**
 * The open parts of a host: what they offer to one another, their commands, and the moments of the host's life that they follow.
 * Each moment reaches the parts in the order in which they were opened. `C`: what every part may use.
 */
export interface OpenParts<C> {
  /** What a part offers. Throws if no part with this key is open. */
  get<V>(key: Key<V>): V
  /** The commands that AHP does not have. Clients of older versions do not get them. */
  readonly commands: ReadonlyMap<string, OpenCommand>
  /** The command of AHP with this name. `as`: the channel's name as the client wrote it. */
  method(name: string): ((link: Subscriber, params: unknown, as: Uri) => unknown) | undefined
  /** The command that a method is in an older version. Undefined if only names and shapes of params and result differ. */
  olderMethod(name: string, generation: Generation): ((call: OlderCall) => unknown) | undefined
  /** The stateless channel of a URI, or why there is none. Undefined if the URI is not that of such a channel. */
  stateless(uri: Uri): StatelessChannel | AhpError | undefined
  /** The members that the parts add to the result of `initialize`. */
  offers(): object
  /** What the parts tell of the state of the host to a client that asks for it. */
  reports(): object
  /** The reason of the guard of an action's type to refuse it; undefined if it may pass. */
  refusal(channel: Channel, action: Action, by: Dispatcher): string | undefined
  /** What the parts add to the way of a client's action into the log. */
  readonly dispatchRules: DispatchLists<C>
  /** The role that a command of AHP or an action needs. `own`, the highest role, if no part says. */
  role(name: string, value: unknown): Role
  /** Runs the effect of a committed action. */
  effect(channel: Channel, entry: Entry): void
  /** The settings that each session of the host has. */
  readonly settings: Settings
  /** An action is appended. What a part appends or records now is stored in the same transaction. Only strict actions are told. */
  appended(channel: Channel, action: Action, by?: Dispatcher): void
  committed(channel: Channel, action: Action): void
  /** A session is disposed of, and its disposal is committed. Its channel has the last state. */
  disposed(session: Channel<'session'>): void
  /** A client has subscribed to a channel. */
  subscribed(channel: Channel): void
  /** A client has identified itself on a link. An older link of the client has been closed. */
  clientCame(link: Link): void
  /** The handshake on a link is done. */
  linkOpened(link: Link): void
  /** A client has come back that has seen everything up to this sequence number. */
  clientReturned(link: Listener, seq: number): void
  /** The newest link of a client has ended. */
  clientLeft(link: Link): void
  /** A link has ended, also one on which no client has identified itself. */
  linkEnded(link: Link): void
  /** Each part finishes what an earlier run of the host left to do before turns go on. */
  recover(): Promise<void>
  /** The host has recovered, and clients come. Not called in a read-only host. */
  started(): void
  /** The host ends. A part that does not end in time is abandoned. */
  close(): Promise<void>
}

export interface Settings {
  readonly [key: string]: SessionConfigPropertySchema
}

/** A call in an older protocol version: its params, translated to the newest version, and the params as the client sent them. */
export interface OlderCall {
  readonly link: Link
  readonly params: { readonly channel: Uri }
  readonly sent: object
  readonly generation: Generation
  /** Returns the URI of a channel that the client calls by this name. */
  readonly canonicalUri: (name: Uri) => Uri
}

export interface OpenCommand {
  readonly params: Schema<unknown>
  /** The role that a device needs for the command. */
  readonly role: Role
  /**
   * Runs the command. The schema has checked the params. If the result is a promise, the response comes later, and the client's
   * further requests do not wait for it.
   */
  run(params: unknown, link: Link): unknown
}
