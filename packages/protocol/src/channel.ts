import { id, natural, object, optional, string, bag } from './schema.ts'
import type { Infer } from './schema.ts'

/** A channel is a URI with a state; actions are the only way to change it. */
export type Uri = string

const action = { type: string }
/** What happened, told apart by `type`. Each kind knows its own; others are let through and change nothing. */
export interface Action extends Infer<typeof action> {}
export const Action = object<Action>('StateAction', action)

const origin = { clientId: id, clientSeq: natural }
/** Who dispatched an action. Absent on an envelope: the host did. */
export interface Origin extends Infer<typeof origin> {}
export const Origin = object<Origin>('ActionOrigin', origin)

export const envelopeShape = {
  channel: id,
  action: Action,
  serverSeq: natural,
  origin: optional(Origin),
  rejectionReason: optional(string),
}
/** An action with its number. `rejectionReason` marks a refusal: it leaves pending and is not reduced. */
export interface Envelope extends Infer<typeof envelopeShape> {}
export const Envelope = object<Envelope>('ActionEnvelope', envelopeShape)

const snapshot = { resource: id, state: bag, fromSeq: natural }
/** A state at a number: what follows has a `serverSeq` above `fromSeq`. */
export interface Snapshot<S = unknown> extends Omit<Infer<typeof snapshot>, 'state'> {
  readonly state: S
}
export const Snapshot = object<Snapshot>('Snapshot', snapshot)
