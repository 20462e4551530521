import { Envelope, Snapshot } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { commands, notifications } from '@atrium/protocol/commands'
import type { ChannelKind } from '@atrium/protocol/kind'
import { checkAction } from '@atrium/protocol/kind'
import type { KindName } from '@atrium/protocol/reducers'
import { decode } from '@atrium/protocol/schema'
import type { Schema } from '@atrium/protocol/schema'
import type { Check } from './check.ts'

/** Every shape of the protocol. */
export const checked: Check = {
  envelope: (value) => decoded(Envelope, value, 'an envelope'),
  action(kind, action) {
    const decoded = checkAction(kindOf(kind), action)
    if (!decoded.ok) throw new Error(`${action.type}: ${decoded.problem}`)
  },
  snapshot(kind, value) {
    const { resource, state, fromSeq } = decoded(Snapshot, value, 'a snapshot')
    return { resource, fromSeq, state: decoded(kindOf(kind).state, state, `the state of ${resource}`) }
  },
  result: (method, value) => decoded(commands.get(method)?.result, value, `the answer to ${method}`) as never,
  note: (method, value) => decoded(notifications.get(method)?.params, value, method) as never,
  params: (method, value) => decoded(commands.get(method)?.params, value, method) as never,
}

function kindOf(name: KindName): ChannelKind {
  return kinds[name] as unknown as ChannelKind
}

function decoded<T>(schema: Schema<T> | undefined, value: unknown, what: string): T {
  if (!schema) throw new Error(`${what}: nothing is known of it`)
  const decoded = decode(schema, value)
  if (!decoded.ok) throw new Error(`${what}: ${decoded.problem}`)
  return decoded.value
}
