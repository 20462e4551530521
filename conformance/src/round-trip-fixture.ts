import { kinds } from '@atrium/protocol/channels'
// Loads every command and notification, so that their shapes have their names.
import '@atrium/protocol/commands'
import { messageOf } from '@atrium/protocol/rpc/message'
import { decode, shapeNamed } from '@atrium/protocol/schema'
import type { Decoded } from '@atrium/protocol/schema'
import { canonical, sameJson } from './json.ts'

interface RoundTripFixture {
  readonly type: string
  readonly input: unknown
  readonly acceptableOutputs: readonly unknown[]
  readonly preservedOutput?: unknown
}

/** Decodes and encodes again. We keep what we do not know, so unknown keys must come back. */
export function roundTripProblem({ type, input, ...outputs }: RoundTripFixture): string | undefined {
  const decoded = decodeAs(type, input)
  if (!decoded.ok) return decoded.problem
  const encoded: unknown = JSON.parse(JSON.stringify(decoded.value))
  const wanted = outputs.preservedOutput ?? outputs.acceptableOutputs[0]
  return sameJson(encoded, wanted) ? undefined : `expected ${canonical(wanted)}, got ${canonical(encoded)}`
}

function decodeAs(type: string, input: unknown): Decoded<unknown> {
  if (type === 'JsonRpcMessage') {
    const message = messageOf(input)
    return message.kind === 'invalid' ? { ok: false, problem: message.problem } : { ok: true, value: input }
  }
  const schema = shapeNamed(type)
  if (!schema) return { ok: false, problem: `no shape "${type}"` }
  const decoded = decode(schema, input)
  return decoded.ok ? (inside(type, decoded.value) ?? decoded) : decoded
}

/** These shapes hold another whose kind only its content tells. */
function inside(type: string, value: unknown): Decoded<unknown> | undefined {
  const { type: actionType, action, state } = value as { type?: string; action?: object; state?: object }
  if (type === 'ActionEnvelope') return inside('StateAction', action)
  if (type === 'StateAction') {
    const known = Object.values(kinds).find((kind) => kind.actions.has(actionType ?? ''))
    const schema = known?.actions.get(actionType ?? '')
    const decoded = schema && decode(schema, value)
    return decoded?.ok === false ? decoded : undefined
  }
  if (type === 'Snapshot' && !Object.values(kinds).some((kind) => decode<unknown>(kind.state, state).ok))
    return { ok: false, problem: 'the state is of no kind we know' }
  return undefined
}
