import { at, each, objectChange } from './shape.ts'
import type { Shape } from './shape.ts'
import { unlessEmptied } from './step.ts'

type ShapeChange = (value: Shape) => Shape

/** The translations of the results and notifications that contain entries of the session list. */
export interface SessionListRows {
  readonly results: { readonly listSessions: ShapeChange }
  readonly notifications: {
    readonly 'root/sessionAdded': ShapeChange
    readonly 'root/sessionSummaryChanged': (params: Shape) => Shape | undefined
  }
}

/**
 * Returns translations that apply a change to each entry of the session list. A notification whose changes are all
 * removed becomes undefined, and is not sent.
 */
export function sessionListRows(change: ShapeChange): SessionListRows {
  return {
    results: { listSessions: (result) => at(result, 'items', each(change)) },
    notifications: {
      'root/sessionAdded': (params) => at(params, 'summary', objectChange(change)),
      'root/sessionSummaryChanged': (params) =>
        unlessEmptied(params, at(params, 'changes', objectChange(change))),
    },
  }
}
