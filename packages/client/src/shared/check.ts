import type { Action, Envelope, Snapshot } from '@atrium/protocol/channel'
import type {
  AnyResult,
  ClientMethod,
  NotificationMethod,
  NotificationParams,
  Params,
} from '@atrium/protocol/commands'
import type { KindName } from '@atrium/protocol/reducers'

/**
 * Checks the shape of the host's messages. Each function returns the checked value, or throws an error. `checked` knows
 * every shape, and includes a schema library. `trusting` checks only the fields that this client itself relies on.
 */
export interface Check {
  envelope(value: unknown): Envelope
  action(kind: KindName, action: Action): void
  snapshot(kind: KindName, snapshot: unknown): Snapshot
  /** The result of a method that AHP does not have is returned as it is. */
  result<M extends string>(method: M, value: unknown): AnyResult<M>
  note<M extends NotificationMethod>(method: M, value: unknown): NotificationParams<M>
  /** The params of a request from the host. */
  params<M extends ClientMethod>(method: M, value: unknown): Params<M>
}

/** A check without a schema library. It is for apps that must be small and connect only to their own host. */
export const trusting: Check = {
  envelope(value) {
    const { channel, action, serverSeq } = objectOf(value)
    if (typeof channel !== 'string' || typeof serverSeq !== 'number')
      throw new Error('this is not an envelope')
    if (typeof objectOf(action)['type'] !== 'string') throw new Error('an action has no type')
    return trusted(value)
  },
  action() {},
  snapshot(_kind, value) {
    const { resource, state, fromSeq } = objectOf(value)
    if (typeof resource !== 'string' || typeof fromSeq !== 'number') throw new Error('this is not a snapshot')
    objectOf(state)
    return trusted(value)
  },
  result: (_method, value) => trusted(value),
  note: (_method, value) => trusted(objectOf(value)),
  params: (_method, value) => trusted(objectOf(value)),
}

function objectOf(value: unknown): { readonly [key: string]: unknown } {
  if (!isObject(value)) throw new Error('an object was expected')
  return value
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null
}

/** The only unchecked cast: `trusting` relies on the host to send the right shapes. `never` fits every type. */
const trusted = (value: unknown) => value as never
