import { Envelope, Snapshot } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import { commands, notifications } from '@atrium/protocol/commands'
import type { ChannelKind } from '@atrium/protocol/kind'
import { checkAction } from '@atrium/protocol/kind'
import type { KindName } from '@atrium/protocol/reducers'
import { decode } from '@atrium/protocol/schema'
import type { Schema } from '@atrium/protocol/schema'
import type { Check } from './check.ts'

/** Checks every shape of the protocol. */
export const checked: Check = {
  envelope: (value) => decoded(Envelope, value, 'an envelope'),
  action(kind, action) {
    const decoded = checkAction(kindOf(kind), action)
    if (!decoded.ok) throw new Error(`${action.type}: ${decoded.problem}`)
  },
  snapshot(kind, value) {
    const snapshot: Snapshot = decoded(Snapshot, value, 'a snapshot')
    const { resource, state, fromSeq } = snapshot
    return { resource, fromSeq, state: decoded(kindOf(kind).state, state, `the state of ${resource}`) }
  },
  result(method, value) {
    const row = commands.get(method)
    // `never` fits every type, and the result of a method that AHP does not have is `unknown`.
    return row ? decoded(row.result, value, `the result of ${method}`) : (value as never)
  },
  note: (method, value) => decoded(notifications.get(method)?.params, value, method),
  params: (method, value) => decoded(commands.get(method)?.params, value, method),
}

function kindOf(name: KindName): ChannelKind {
  const kind = kindNamed(name)
  if (!kind) throw new Error(`there is no channel kind ${name}`)
  return kind
}

const decoded = (schema: Schema<unknown> | undefined, value: unknown, what: string) => {
  if (!schema) throw new Error(`${what}: unknown`)
  const result = decode(schema, value)
  if (!result.ok) throw new Error(`${what}: ${result.problem}`)
  // The tables of commands and notifications do not carry the types of their schemas. `never` fits every type.
  return result.value as never
}
