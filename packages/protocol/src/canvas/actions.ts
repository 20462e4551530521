import { host } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { CanvasState } from './state.ts'

export const canvasActions = {
  // The address in it must not be stored.
  'canvas/stateChanged': host({ canvas: CanvasState }, 'ephemeral'),
}
export type CanvasAction = ActionsOf<typeof canvasActions>
