import type { Action } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { Role } from '@atrium/protocol/root/device'
import { id, object } from '@atrium/protocol/schema'
import type { Infer, Schema } from '@atrium/protocol/schema'
import type { Channel } from './log/channel.ts'
import type { Listener } from './log/entry.ts'
import type { Dispatcher } from './log/options.ts'
import type { Core } from './core.ts'
import type { Place } from './key.ts'
import type { Link } from './link.ts'
import type { OpenCommand, OpenParts, Settings } from './open-parts.ts'
import type { RuleTables } from './rules.ts'
import { withTimeout } from './timeout.ts'

/**
 * A part of the host: one feature as one value. `V` is the open part; undefined if this host does not have the feature, and then
 * nothing else of the part is used. `P` is what the part needs from outside.
 */
interface Definition<V, P> {
  readonly name: string
  /** Absent: no other part uses it. */
  readonly key?: Place<V>
  /** The parts before it in the list are open already. Absent: the part has rules alone. */
  readonly open?: (core: Core, ports: P) => V | Promise<V>
  readonly commands?: Commands<NonNullable<V>>
  /** What the part adds to AHP's tables. A host has it also if it does not have the feature: the command then says so. */
  readonly rules?: RuleTables
  /** The settings that each session has in a host with the part. */
  readonly settings?: Settings
  readonly appended?: (
    self: NonNullable<V>,
    channel: Channel,
    action: Action,
    core: Core,
    by?: Dispatcher,
  ) => void
  readonly committed?: (self: NonNullable<V>, channel: Channel, action: Action) => void
  readonly disposed?: (self: NonNullable<V>, session: Channel<'session'>) => void
  readonly clientCame?: (self: NonNullable<V>, link: Link) => void
  readonly linkOpened?: (self: NonNullable<V>, link: Link, core: Core) => void
  readonly clientReturned?: (self: NonNullable<V>, link: Listener, seq: number) => void
  readonly clientLeft?: (self: NonNullable<V>, link: Link) => void
  readonly linkEnded?: (self: NonNullable<V>, link: Link) => void
  /** Finishes what must be done before turns of an earlier run go on. Not called in a read-only host. */
  readonly recover?: (self: NonNullable<V>) => Promise<void>
  /** The host has recovered. Not called in a read-only host. */
  readonly started?: (self: NonNullable<V>) => void
  /** The host ends. `inTime` waits for a task, but not for ever. */
  readonly close?: (self: NonNullable<V>, inTime: InTime) => Promise<void>
}

type InTime = (task: Promise<void>) => Promise<void>

interface Commands<S> {
  readonly [name: string]: Command<S>
}

/** A command that AHP does not have. Absent `isOffered`: each host with the part offers it. */
interface Command<S> {
  readonly params: Schema<unknown>
  readonly role: Role
  readonly isOffered?: ((core: Core) => boolean) | undefined
  readonly run: (self: S, params: unknown, link: Link, core: Core) => unknown
}

/** A part whose own type is hidden, so that parts can be listed. */
export interface Part<P> {
  readonly name: string
  /** The roles that its commands need, by their names. */
  readonly roles: { readonly [command: string]: Role }
  readonly rules: RuleTables
  open(core: Core, ports: P): Promise<Opened>
}

/** A part that is open. */
export interface Opened {
  readonly key: object | undefined
  readonly value: unknown
  readonly commands: readonly (readonly [name: string, command: OpenCommand])[]
  readonly settings: Settings
  readonly moments: Partial<
    Pick<
      OpenParts<Core>,
      | 'appended'
      | 'committed'
      | 'disposed'
      | 'clientCame'
      | 'linkOpened'
      | 'clientReturned'
      | 'clientLeft'
      | 'linkEnded'
      | 'recover'
      | 'started'
      | 'close'
    >
  >
}

export function part<V = undefined, P = object>(definition: Definition<V, P>): Part<P> {
  const { name, key, commands = {} } = definition
  return {
    name,
    roles: Object.fromEntries(Object.entries(commands).map(([each, { role }]) => [each, role])),
    rules: definition.rules ?? {},
    async open(core, ports) {
      const value = await definition.open?.(core, ports)
      const self = value ?? undefined
      if (self === undefined) return { key, value, commands: [], settings: {}, moments: {} }
      const { appended, committed, disposed, recover, started, close } = definition
      const { clientCame, linkOpened, clientReturned, clientLeft, linkEnded } = definition
      return {
        key,
        value,
        commands: Object.entries(commands).flatMap((each) => openCommand(core, self, ...each)),
        settings: definition.settings ?? {},
        moments: {
          ...(appended && { appended: (channel, action, by) => appended(self, channel, action, core, by) }),
          ...(committed && { committed: (...given) => committed(self, ...given) }),
          ...(disposed && { disposed: (session) => disposed(self, session) }),
          ...(clientCame && { clientCame: (link) => clientCame(self, link) }),
          ...(linkOpened && { linkOpened: (link) => linkOpened(self, link, core) }),
          ...(clientReturned && { clientReturned: (link, seq) => clientReturned(self, link, seq) }),
          ...(clientLeft && { clientLeft: (link) => clientLeft(self, link) }),
          ...(linkEnded && { linkEnded: (link) => linkEnded(self, link) }),
          ...(recover && { recover: () => recover(self) }),
          ...(started && { started: () => started(self) }),
          ...(close && {
            close: () => close(self, (task) => withTimeout(core.world, core.limits.endMs, task, () => {})),
          }),
        },
      }
    },
  }
}

function openCommand<S>(
  core: Core,
  self: S,
  name: string,
  { params, role, isOffered, run }: Command<S>,
): readonly (readonly [string, OpenCommand])[] {
  if (isOffered?.(core) === false) return []
  return [[name, { params, role, run: (given, link) => run(self, given, link, core) }]]
}

/** A command of a part. */
export function command<S, P>(
  role: Role,
  params: Schema<P>,
  run: (self: S, params: P, link: Link, core: Core) => unknown,
  isOffered?: (core: Core) => boolean,
): Command<S> {
  // The params have passed the schema before `run` gets them.
  return { role, params, isOffered, run: (self, given, link, core) => run(self, given as P, link, core) }
}

/** The params of a command that has none of its own. Every command of AHP names a channel; such a command names the root. */
const noParams = { channel: id }
export interface NoParams extends Infer<typeof noParams> {}
export const NoParams = object<NoParams>('AtriumNoParams', noParams)

/** Refuses a command that writes while the host is read-only, with the reason. */
export function checkWritable({ readOnlyReason }: Core): void {
  const reason = readOnlyReason()
  if (reason !== undefined) throw AhpError.permissionDenied(reason)
}
