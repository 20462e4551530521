import type { Action } from '../../channel.ts'
import { same } from '../difference.ts'
import { contextOf } from '../lens.ts'
import { at, each, listOf, omit, put, shapeOf } from '../shape.ts'
import type { Shape } from '../shape.ts'
import { one } from '../step.ts'
import type { Row } from '../step.ts'

/**
 * Translates the state of a changeset. At 0.3 only a failed changeset has an error, because no action of 0.3 sets the
 * error of any other changeset.
 */
export function changesetDown(state: Shape): Shape {
  return withOperations(state['status'] === 'error' ? state : omit(state, 'error'))
}

/**
 * Translates operations. At 0.3 they have no groups. A disabled operation is shown as idle; the host refuses to start
 * it.
 */
function withOperations<S extends Shape>(holder: S): S {
  return at(
    holder,
    'operations',
    each((operation) => enabled(omit(operation, 'group'))),
  )
}

function enabled(operation: Shape): Shape {
  return operation['status'] === 'disabled' ? put(operation, { status: 'idle' }) : operation
}

/**
 * Translates new content to several actions: one empties the changeset, one sets each file, one sets the operations
 * if they are given, and one sets the error if it changed.
 */
const contentChanged: Row = (action, context) => {
  const { before, after } = contextOf(context)
  const [earlier, later] = [changesetDown(shapeOf(before)), changesetDown(shapeOf(after))]
  const { status, error } = later
  return [
    { type: 'changeset/cleared' },
    ...listOf(action, 'files').map((file) => made('changeset/fileSet', { file })),
    ...(action['operations'] === undefined
      ? []
      : [made('changeset/operationsChanged', withOperations({ operations: action['operations'] }))]),
    ...(same(earlier['error'], error) ? [] : [made('changeset/statusChanged', { status, error })]),
  ]
}

export const changesetRows = {
  'changeset/contentChanged': contentChanged,
  'changeset/operationsChanged': one(withOperations),
  'changeset/operationStatusChanged': one(enabled),
}

function made(type: string, payload: Shape): Action {
  return put({ type }, payload)
}
