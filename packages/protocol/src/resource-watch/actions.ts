import { host } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { ResourceChanges } from './state.ts'
import { since } from '../version.ts'

export const resourceWatchActions = since('0.2.0', {
  'resourceWatch/changed': host({ changes: ResourceChanges }, 'ephemeral'),
})
export type ResourceWatchAction = ActionsOf<typeof resourceWatchActions>
