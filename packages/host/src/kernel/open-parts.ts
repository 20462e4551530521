import type { Action, Uri } from '@atrium/protocol/channel'
import type { SessionConfigPropertySchema } from '@atrium/protocol/common/config'
import type { Role } from '@atrium/protocol/root/device'
import type { Schema } from '@atrium/protocol/schema'
import type { Channel } from '../log/channel.ts'
import type { Dispatcher } from '../log/options.ts'
import type { Key } from './key.ts'
import type { Link } from './link.ts'

/**
 * The open parts of a host: what they offer to one another, their commands, and the moments of the host's life that they follow.
 * Each moment reaches the parts in the order in which they were opened.
 */
export interface OpenParts {
  /** What a part offers. Throws if no part with this key is open. */
  get<V>(key: Key<V>): V
  /** The commands that AHP does not have. Clients of older versions do not get them. */
  readonly commands: ReadonlyMap<string, OpenCommand>
  /** The command of AHP with this name. `as`: the channel's name as the client wrote it. */
  method(name: string): ((link: Link, params: unknown, as: Uri) => unknown) | undefined
  /** The reason of the guard of an action's type to refuse it; undefined if it may pass. */
  refusal(channel: Channel, action: Action, by: Dispatcher): string | undefined
  /** Runs the effect of a committed action. */
  effect(channel: Channel, action: Action): void
  /** The settings that each session of the host has. */
  readonly settings: Settings
  /** An action is appended. What a part appends or records now is stored in the same transaction. */
  appended(channel: Channel, action: Action, by?: Dispatcher): void
  committed(channel: Channel, action: Action): void
  /** A session is disposed of, and its disposal is committed. */
  disposed(session: Uri): void
  /** A client has identified itself on a link. An older link of the client has been closed. */
  clientCame(link: Link): void
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
