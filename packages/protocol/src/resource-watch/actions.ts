import { host } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { ResourceChanges } from './state.ts'

export const resourceWatchActions = {
  'resourceWatch/changed': host({ changes: ResourceChanges }, 'ephemeral'),
}
export type ResourceWatchAction = ActionsOf<typeof resourceWatchActions>
