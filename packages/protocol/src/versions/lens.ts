import type { Action } from '../channel.ts'
import type { KindName } from '../reducers.ts'
import type { Version } from './negotiate.ts'

/**
 * The translation between two neighbouring protocol versions: `Down` from the newer to the older, `Up` from the older to
 * the newer. The law: the older reducer, applied to `stateDown(state)` with the actions of `actionDown(action)`, gives
 * `stateDown` of the state after the action. A value that needs no translation is returned as the same object.
 */
export interface Lens {
  /** The older version. */
  readonly version: Version
  stateDown(kind: KindName, state: object): object
  /** The actions for the older peer: none, one, or several. The stride of the action type is the maximum. */
  actionDown(kind: KindName, action: Action): readonly Action[]
  actionUp(kind: KindName, action: Action): Action
  /** Whether the older version has this method, as a command or as a notification of the host. */
  knows(method: string): boolean
  /** The params of a command in the form of the newer version. */
  paramsUp(method: string, params: object): object
  /** The result of a command. The snapshots in it are left as they are, because `stateDown` translates them. */
  resultDown(method: string, result: unknown): unknown
  /** The params of a notification, or `undefined` if nothing in them exists in the older version. */
  notificationDown(method: string, params: object): object | undefined
}
