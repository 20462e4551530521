import { decode } from '@atrium/protocol/schema'
import type { Schema } from '@atrium/protocol/schema'
import { canonical } from '../json.ts'

/** Thrown if the host does not behave as the rule says. */
export class Failed extends Error {
  override readonly name = 'Failed'
  readonly expected: string
  readonly actual: string

  constructor(expected: string, actual: string) {
    super(`expected ${expected}; got ${actual}`)
    this.expected = expected
    this.actual = actual
  }
}

/** Thrown if the rule cannot be judged on this host. The message gives the reason. */
export class Skipped extends Error {
  override readonly name = 'Skipped'
}

export function check(holds: boolean, expected: string, actual: unknown): asserts holds {
  if (!holds) throw new Failed(expected, excerpt(actual))
}

/** Checks that two values are equal as JSON. A key with the value null equals an absent key. */
export function same(what: string, expected: unknown, actual: unknown): void {
  if (canonical(expected) !== canonical(actual))
    throw new Failed(`${what}: ${excerpt(expected)}`, excerpt(actual))
}

/** Returns the value, typed, after checking that it matches the schema. */
export function checkShape<T>(what: string, schema: Schema<T>, value: unknown): T {
  const decoded = decode(schema, value)
  if (decoded.ok) return decoded.value
  throw new Failed(what, `${excerpt(value)} (${decoded.problem})`)
}

/** The beginning of a value as text, short enough for a report line. */
export function excerpt(value: unknown): string {
  const text = typeof value === 'string' ? value : (canonical(value) ?? 'nothing')
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`
}

const limit = 400
