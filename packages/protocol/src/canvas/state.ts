import { id, object, optional, string } from '../schema.ts'
import type { Infer } from '../schema.ts'

const canvasState = {
  instanceId: id,
  extensionId: id,
  extensionName: optional(string),
  canvasId: id,
  title: optional(string),
  status: optional(string),
  /** A live address. It must not be logged, and must not be used after a restart of the host. */
  url: optional(id),
}
export interface CanvasState extends Infer<typeof canvasState> {}
export const CanvasState = object<CanvasState>('CanvasState', canvasState)
