import type { Action, Uri } from '@atrium/protocol/channel'
import type { Implementation } from '@atrium/protocol/root/connection'
import type { KindName } from '@atrium/protocol/reducers'
import type { Channel } from './log/channel.ts'
import type { Entry } from './log/entry.ts'
import type { Dispatcher, Sender } from './log/options.ts'

/** What parts add to the way of a client's action into the log, in the order of that way. `C`: what every part may use. */
export interface DispatchRules<C> {
  /** The channels that must be in memory before the action is applied. No schema has checked the action yet. */
  readonly needs: (core: C, channel: Uri, action: Action) => readonly Uri[]
  /** Whether an action is an accepted one that its client has sent again. Only what the host itself has added may differ. */
  readonly resends: (accepted: Action, again: Action) => boolean
  /** Does the same as `resends` for an action that was stored on another channel than the one on which it is sent. */
  readonly movedResends: (accepted: Action, again: Action, channel: ChannelName) => boolean
  /** Finds an action that is not accepted on its own channel at once. */
  readonly detours: (core: C, channel: Channel, action: Action, by: Dispatcher) => Detour | undefined
  /** Returns the action that a client means, if some clients send another one in its place. */
  readonly conversions: (channel: Channel, action: Action, by: Dispatcher) => Action
  /** Called after the refusal of an action that its schema allows. */
  readonly refused: (core: C, channel: Channel, action: Action, refusal: Refused) => void
  /** Called before an action is accepted. */
  readonly accepting: (core: C, channel: Channel, action: Action, by: Dispatcher) => void
  /** Adds to an action what only the host knows. */
  readonly completions: (core: C, channel: Channel, action: Action, by: Author) => Action
}

/** An action of a client that changes another state than that of its channel, or changes it later. */
export interface Detour {
  /** The channel whose rules the action must pass. Absent: the part itself checks the action, apart from its role. */
  readonly target?: Channel
  /** Returns the entry that answers the action. Undefined if the answer comes later. */
  accept(sender: Sender): Entry | undefined
}

/** The client of an action: its id, its principal, what it calls itself, its device, and the time of the action. */
export interface Author {
  readonly principal: string
  readonly clientId: string
  readonly client?: Implementation
  /** The name of the client's device. */
  readonly device?: string
  /** ISO 8601. */
  readonly at: string
}

interface Refused {
  readonly clientId: string
  readonly reason: string
}

interface ChannelName {
  readonly uri: Uri
  readonly kindName: KindName
}

/** The rules of some parts, in lists. */
export type DispatchLists<C> = { readonly [R in keyof DispatchRules<C>]: readonly DispatchRules<C>[R][] }

export const noDispatchRules: DispatchLists<unknown> = {
  needs: [],
  resends: [],
  movedResends: [],
  detours: [],
  conversions: [],
  refused: [],
  accepting: [],
  completions: [],
}

/** Appends the rules of another part. */
export function withRules<C>(lists: DispatchLists<C>, more: Partial<DispatchLists<C>>): DispatchLists<C> {
  return {
    needs: [...lists.needs, ...(more.needs ?? [])],
    resends: [...lists.resends, ...(more.resends ?? [])],
    movedResends: [...lists.movedResends, ...(more.movedResends ?? [])],
    detours: [...lists.detours, ...(more.detours ?? [])],
    conversions: [...lists.conversions, ...(more.conversions ?? [])],
    refused: [...lists.refused, ...(more.refused ?? [])],
    accepting: [...lists.accepting, ...(more.accepting ?? [])],
    completions: [...lists.completions, ...(more.completions ?? [])],
  }
}
