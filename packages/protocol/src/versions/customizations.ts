import { at, each, inOrder, objectChange } from './shape.ts'
import type { Shape } from './shape.ts'
import { one } from './step.ts'
import type { Row } from './step.ts'

type ShapeChange = (item: Shape) => Shape

/**
 * Applies one change to customizations. Each member does so for one kind of object on the wire that contains them.
 */
export interface CustomizationsDown {
  /** Changes the customizations in the state of the root channel, or in the action that replaces its agents. */
  readonly root: ShapeChange
  /** Changes those in the state of a session. */
  readonly session: ShapeChange
  /** Changes those of an active client of a session. */
  readonly activeClient: ShapeChange
  /** Changes one customization at the top level, and its children. */
  readonly customization: ShapeChange
  readonly rows: { readonly [type: string]: Row }
}

/**
 * Returns the functions that apply `change` to every customization: at the top level (`isChild` is false) and below.
 */
export function customizations(change: (item: Shape, isChild: boolean) => Shape): CustomizationsDown {
  const child = (item: Shape) => change(item, true)
  const customization = (item: Shape) => change(at(item, 'children', each(child)), false)
  const inKey = (holder: Shape) => at(holder, 'customizations', each(customization))
  const root = (state: Shape) => at(state, 'agents', each(inKey))
  const activeClients = (state: Shape) => at(state, 'activeClients', each(inKey))
  return {
    root,
    session: inOrder(inKey, activeClients),
    activeClient: inKey,
    customization,
    rows: {
      'root/agentsChanged': one(root),
      'session/customizationsChanged': one(inKey),
      'session/customizationUpdated': one((action) =>
        at(action, 'customization', objectChange(customization)),
      ),
      'session/activeClientSet': one((action) => at(action, 'activeClient', objectChange(inKey))),
    },
  }
}
