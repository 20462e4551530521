import { at, each, inOrder, objectChange } from './shape.ts'
import type { Shape } from './shape.ts'
import { one } from './step.ts'
import type { Row } from './step.ts'

type ShapeChange = (item: Shape) => Shape

/** A change of customizations, applied to all places on the wire that contain customizations. */
export interface CustomizationsDown {
  /** The state of the root channel, and the action that replaces its agents. */
  readonly root: ShapeChange
  /** The state of a session. */
  readonly session: ShapeChange
  /** A client that takes part in a session. */
  readonly activeClient: ShapeChange
  /** One customization at the top level, with its children. */
  readonly customization: ShapeChange
  readonly rows: { readonly [type: string]: Row }
}

/** `change` gets every customization, at the top level (`isChild` is false) and below. */
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
