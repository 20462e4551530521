import { host } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { CanvasState } from './state.ts'
import { since } from '../version.ts'

export const canvasActions = since('1.0.0', {
  'canvas/stateChanged': host({ canvas: CanvasState }),
})
export type CanvasAction = ActionsOf<typeof canvasActions>
