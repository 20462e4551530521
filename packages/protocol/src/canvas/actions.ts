import { host } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { CanvasState } from './state.ts'

export const canvasActions = {
  'canvas/stateChanged': host({ canvas: CanvasState }),
}
export type CanvasAction = ActionsOf<typeof canvasActions>
