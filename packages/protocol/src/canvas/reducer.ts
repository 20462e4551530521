import { reducer } from '../reduce.ts'
import type { CanvasAction } from './actions.ts'
import type { CanvasState } from './state.ts'

export const reduceCanvas = reducer<CanvasState, CanvasAction>({
  'canvas/stateChanged': (_, { canvas }) => canvas,
})
