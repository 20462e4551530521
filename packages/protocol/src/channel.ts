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

export interface Reduce<S, A extends Action = Action> {
  (state: S, action: A): S
  (state: S, action: Action): S
}

/** What one action does to a state. */
export type Case<S, A extends Action> = (state: S, action: A) => S

/** A case for every action type: the compiler asks for the missing one. */
export type Cases<S, A extends Action> = {
  readonly [T in A['type']]: Case<S, Extract<A, { readonly type: T }>>
}

/** Types come from the wire, so they are looked up in a Map: `constructor` is as unknown as any other. */
export function reducer<S, A extends Action>(cases: Cases<S, A>): Reduce<S, A> {
  const byType = new Map(Object.entries(cases) as [string, Case<S, Action>][])
  return (state: S, action: Action) => byType.get(action.type)?.(state, action) ?? state
}
