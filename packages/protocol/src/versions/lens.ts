import type { Action } from '../channel.ts'
import type { KindName } from '../reducers.ts'
import type { Version } from './negotiate.ts'

/**
 * The step between two neighbouring generations, seen from the newer: `down` is what the older peer is told, `up` what it
 * meant. Folding what `actionDown` gives with the older reducer over `stateDown(state)` equals `stateDown` of the state
 * after. What a step leaves alone it gives back as the same object.
 */
export interface Lens {
  /** The older generation. */
  readonly version: Version
  stateDown(kind: KindName, state: object): object
  /** None, one or several: never more than the stride of its type. */
  actionDown(kind: KindName, action: Action): readonly Action[]
  actionUp(kind: KindName, action: Action): Action
  /** Whether the older generation has this method, as a command or as a notification of the host. */
  knows(method: string): boolean
  /** A command's params as they are understood. */
  paramsUp(method: string, params: object): object
  /** What a command is answered, without the states inside. */
  resultDown(method: string, result: unknown): unknown
  /** Nothing when there is nothing left to say. */
  noteDown(method: string, params: object): object | undefined
}
