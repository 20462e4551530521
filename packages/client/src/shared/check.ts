import type { Action, Envelope, Snapshot } from '@atrium/protocol/channel'
import type {
  ClientMethod,
  Method,
  NotificationMethod,
  NotificationParams,
  Params,
  Result,
} from '@atrium/protocol/commands'
import type { KindName } from '@atrium/protocol/reducers'

/**
 * Whether what a host says has the shape it must have. Each gives back the value, or throws with a sentence. `checked`
 * knows every shape, and with them a schema library; `trusting` looks only at what this client itself would trip over.
 */
export interface Check {
  envelope(value: unknown): Envelope
  action(kind: KindName, action: Action): void
  snapshot(kind: KindName, snapshot: unknown): Snapshot
  result<M extends Method>(method: M, value: unknown): Result<M>
  note<M extends NotificationMethod>(method: M, value: unknown): NotificationParams<M>
  /** What the host asks of this client. */
  params<M extends ClientMethod>(method: M, value: unknown): Params<M>
}

/** For a host that one has built oneself, where every kilobyte counts. */
export const trusting: Check = {
  envelope(value) {
    const { channel, action, serverSeq } = objectOf(value)
    if (typeof channel !== 'string' || typeof serverSeq !== 'number') throw new Error('this is no envelope')
    if (typeof objectOf(action)['type'] !== 'string') throw new Error('an action without a type')
    return value as Envelope
  },
  action() {},
  snapshot(_kind, value) {
    const { resource, state, fromSeq } = objectOf(value)
    if (typeof resource !== 'string' || typeof fromSeq !== 'number') throw new Error('this is no snapshot')
    objectOf(state)
    return value as Snapshot
  },
  result: (_method, value) => value as never,
  note: (_method, value) => objectOf(value) as never,
  params: (_method, value) => objectOf(value) as never,
}

function objectOf(value: unknown): { readonly [key: string]: unknown } {
  if (typeof value !== 'object' || value === null) throw new Error('an object was expected')
  return value as { readonly [key: string]: unknown }
}
