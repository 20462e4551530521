import { kinds } from '@atrium/protocol/channels'
// This import registers the shape of every command and notification by name.
import '@atrium/protocol/commands'
import { messageOf } from '@atrium/protocol/rpc/message'
import { decode, shapeNamed } from '@atrium/protocol/schema'
import type { Decoded } from '@atrium/protocol/schema'
import { nativeVersion } from '@atrium/protocol/versions/negotiate'
import type { OracleVersion } from '@atrium/protocol/oracles'
import { canonical, sameJson } from './json.ts'
import { inNativeShape } from './older-shapes.ts'

export interface RoundTripFixture {
  readonly type: string
  readonly input: unknown
  readonly acceptableOutputs: readonly unknown[]
  readonly preservedOutput?: unknown
}

/**
 * Decodes a value and encodes it again. Unknown keys must be preserved. A value of an older version is first
 * translated to the shapes of 1.0, which judge it. If the translation changed something, the input itself is encoded,
 * because there is no translation back. Returns the problem, if there is one.
 */
export function roundTripProblem(version: OracleVersion, fixture: RoundTripFixture): string | undefined {
  const { type, input, preservedOutput, acceptableOutputs } = fixture
  const native = version === nativeVersion ? input : inNativeShape(version, type, input)
  const decoded = decodeAs(type, native)
  if (!decoded.ok) return decoded.problem
  const kept = sameJson(native, input) ? decoded.value : withoutNulls(input)
  const encoded: unknown = JSON.parse(JSON.stringify(kept))
  const expected = preservedOutput ?? acceptableOutputs[0]
  return sameJson(encoded, expected)
    ? undefined
    : `expected ${canonical(expected)}, got ${canonical(encoded)}`
}

function decodeAs(type: string, input: unknown): Decoded<unknown> {
  if (type === 'JsonRpcMessage') {
    const message = messageOf(input)
    return message.kind === 'invalid' ? { ok: false, problem: message.problem } : { ok: true, value: input }
  }
  const schema = shapeNamed(type)
  if (!schema) return { ok: false, problem: `no shape "${type}"` }
  const decoded = decode(schema, input)
  return decoded.ok ? (nestedProblem(type, decoded.value) ?? decoded) : decoded
}

/**
 * Checks the action or the state inside a value. The shape of the value cannot check them, because their kind is
 * known only from their content.
 */
function nestedProblem(type: string, value: unknown): Decoded<unknown> | undefined {
  const { type: actionType, action, state } = value as { type?: string; action?: object; state?: object }
  if (type === 'ActionEnvelope') return nestedProblem('StateAction', action)
  if (type === 'StateAction') {
    const known = Object.values(kinds).find((kind) => kind.actions.has(actionType ?? ''))
    const schema = known?.actions.get(actionType ?? '')
    const decoded = schema && decode(schema, value)
    return decoded?.ok === false ? decoded : undefined
  }
  if (type === 'Snapshot' && !Object.values(kinds).some((kind) => decode<unknown>(kind.state, state).ok))
    return { ok: false, problem: 'the state matches no known kind' }
  return undefined
}

/** The value without the nulls that stand for absent keys. */
function withoutNulls(value: unknown): unknown {
  return JSON.parse(canonical(value))
}
