import type { Action, Uri } from '../channel.ts'
import type { KindName } from '../reducers.ts'
import type { SessionState } from '../session/state.ts'
import type { Version } from './negotiate.ts'

/**
 * The translation between two neighbouring protocol versions, or a chain of such translations: `Down` from the newer to the
 * older, `Up` from the older to the newer. The law: the older reducer, applied to `stateDown(before)` with the actions of
 * `actionDown(action)`, gives `stateDown(after)`. A value that needs no translation is returned as the same object.
 */
export interface Lens {
  /** The older version. */
  readonly version: Version
  stateDown(kind: KindName, state: object, context?: StateContext): object
  actionDown(kind: KindName, action: Action, context?: ActionContext): Lowered
  /**
   * The older form of one change, for which the newer version may have several actions. If a lens lacks this function, each
   * action is translated alone.
   */
  actionsDown?(kind: KindName, actions: readonly Action[], context?: ActionContext): Lowered
  /** Whether the older form of every action of a type is the action itself. */
  leaves(type: string): boolean
  /** The action in the newer version, or the reason why it is refused. */
  actionUp(kind: KindName, action: Action, context: LiftContext): Action | Refusal
  /** Whether the older version has this method, as a command or as a notification of the host. */
  knows(method: string): boolean
  /**
   * The params of a command in the form of the newer version. If a member is missing or invalid, throws an `AhpError`
   * that names the member as the client wrote it.
   */
  paramsUp(method: string, params: object): object
  /** The result of a command. The snapshots in it are left as they are, because `stateDown` translates them. */
  resultDown(method: string, result: unknown): unknown
  /** The params of a notification, or `undefined` if nothing in them exists in the older version. */
  notificationDown(method: string, params: object): object | undefined
}

/**
 * The older form of an action: no action, one, or several. Their number is at most the number of sequence numbers
 * that the action takes. `rebuild` means that the older version has no actions for the change: the client must get a
 * new snapshot.
 */
export type Lowered = readonly Action[] | typeof rebuild

export const rebuild = 'rebuild'

/** Joins the older forms of several actions. Returns `rebuild` if one of them is `rebuild`. */
export function together(all: readonly Lowered[]): Lowered {
  return all.includes(rebuild) ? rebuild : all.flatMap((each) => (each === rebuild ? [] : each))
}

/** What the older state depends on besides the state itself. All values are in the form of the newer version. */
export interface StateContext {
  /** The id of the client that gets the state. */
  readonly viewer: string
  /** The entry of a session in the list of sessions. */
  readonly summary?: object | undefined
  /** The state of the chat that represents the session in versions without chats. */
  readonly chat?: object | undefined
  /** The state of the changeset with all changes of a session. */
  readonly changeset?: object | undefined
}

/**
 * What the older form of an action may depend on besides the action. A replay has no context. A lens that needs one then
 * calls `contextOf`, which throws, and the client gets a snapshot instead of the replay.
 */
export interface ActionContext {
  /** The id of the client that gets the action. */
  readonly viewer: string
  /** The state of the channel before and after the action, in the newer of the two versions. */
  readonly before: object
  readonly after: object
}

/** What the newer form of an action depends on besides the action. */
export interface LiftContext {
  /** The id of the client that dispatched the action. */
  readonly viewer: string
  /** The time as an ISO 8601 text. */
  readonly now: string
  /** The time since the start of the active turn, in milliseconds. */
  readonly turnDuration: number
  /** The session of the channel, in the native version. */
  readonly session: SessionState | undefined
  /** The URI of that session. */
  readonly sessionUri?: Uri | undefined
  /** Whether a client speaks a version that has only one active client in a session. */
  isSingle(clientId: string): boolean
}

/** The reason why an action of an older version has no newer form. */
export class Refusal {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/** Thrown if an action is translated without the context that its translation needs. */
export class ContextMissing extends Error {}

export function contextOf(context: ActionContext | undefined): ActionContext {
  if (!context) throw new ContextMissing('the older form of this action depends on the state')
  return context
}
