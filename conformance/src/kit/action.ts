import type { Action } from '@atrium/protocol/channel'

/** An action with the fields of its type. `Action` itself declares only `type`. */
export function actionOf(type: string, fields: object = {}): Action {
  return { type, ...fields }
}
