import { decode } from '@atrium/protocol/schema'
import type { Schema } from '@atrium/protocol/schema'
import { canonical } from '../json.ts'

/** The host did something else than the rule says. */
export class Failed extends Error {
  override readonly name = 'Failed'
  readonly expected: string
  readonly came: string

  constructor(expected: string, came: string) {
    super(`expected ${expected}; came ${came}`)
    this.expected = expected
    this.came = came
  }
}

/** The rule cannot be judged at this host, and why. */
export class Skipped extends Error {
  override readonly name = 'Skipped'
}

export function check(holds: boolean, expected: string, came: unknown): asserts holds {
  if (!holds) throw new Failed(expected, shown(came))
}

/** Compared as JSON, with null and absent alike. */
export function same(what: string, expected: unknown, came: unknown): void {
  if (canonical(expected) !== canonical(came)) throw new Failed(`${what}: ${shown(expected)}`, shown(came))
}

/** The value, once it is known to have the shape. */
export function fits<T>(what: string, schema: Schema<T>, value: unknown): T {
  const decoded = decode(schema, value)
  if (decoded.ok) return decoded.value
  throw new Failed(what, `${shown(value)} (${decoded.problem})`)
}

/** Short enough for a table: what is wrong with a state stands mostly at its beginning. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (canonical(value) ?? 'nothing')
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`
}

const limit = 400
