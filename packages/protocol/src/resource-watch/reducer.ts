import { reducer } from '../reduce.ts'
import type { ResourceWatchAction } from './actions.ts'
import type { ResourceWatchState } from './state.ts'

export const reduceResourceWatch = reducer<ResourceWatchState, ResourceWatchAction>({
  'resourceWatch/changed': (state) => state,
})
