import { id, natural, object, optional, string, jsonObject } from './schema.ts'
import type { Infer } from './schema.ts'

/** The URI of a channel or of another resource. A channel has a state, which only actions change. */
export type Uri = string

const action = { type: string }
/** A change of a channel's state. A reducer ignores every `type` that its channel kind does not define. */
export interface Action extends Infer<typeof action> {}
export const Action = object<Action>('StateAction', action)

const origin = { clientId: id, clientSeq: natural }
/** The client that dispatched an action. An envelope without an origin is an action of the host. */
export interface Origin extends Infer<typeof origin> {}
export const Origin = object<Origin>('ActionOrigin', origin)

export const envelopeShape = {
  channel: id,
  action: Action,
  serverSeq: natural,
  origin: optional(Origin),
  rejectionReason: optional(string),
}
/**
 * An action with its sequence number. With a `rejectionReason` the action was refused: its client drops it from the
 * pending actions, and no reducer applies it.
 */
export interface Envelope extends Infer<typeof envelopeShape> {}
export const Envelope = object<Envelope>('ActionEnvelope', envelopeShape)

const snapshot = { resource: id, state: jsonObject, fromSeq: natural }
/** The state of a channel after action `fromSeq`. The actions that follow have a higher `serverSeq`. */
export interface Snapshot<S = unknown> extends Omit<Infer<typeof snapshot>, 'state'> {
  readonly state: S
}
export const Snapshot = object<Snapshot>('Snapshot', snapshot)
