import { kinds } from '../channels.ts'
import { reducers } from '../reducers.ts'
import type { KindName } from '../reducers.ts'
import type { Rules, VersionRules } from './table.ts'

function native(name: KindName): Rules {
  return Object.fromEntries([...kinds[name].actions.keys()].map((type) => [type, reducers[name]]))
}

/** 1.0: the reducers of this package. */
export const v10: VersionRules = {
  root: native('root'),
  session: native('session'),
  chat: native('chat'),
  terminal: native('terminal'),
  changeset: native('changeset'),
  annotations: native('annotations'),
  resourceWatch: native('resourceWatch'),
  automation: native('automation'),
  automationRun: native('automationRun'),
  canvas: native('canvas'),
}
