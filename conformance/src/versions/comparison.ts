import type { KindName } from '@atrium/protocol/reducers'
import { withoutGaps } from '@atrium/protocol/versions/gaps'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { omit, shapeOf } from '@atrium/protocol/versions/shape'
import type { Shape } from '@atrium/protocol/versions/shape'
import { canonical } from '../json.ts'
import { Failed, excerpt } from '../kit/check.ts'

/**
 * Checks that the state which a client has folded equals the state in a new snapshot of the same version. Left out
 * are times that each reducer takes from its own clock, fields that no action changes, and parts that differ because
 * the version has no action for their changes.
 */
export function sameView(version: Version, kind: KindName, folded: Shape, fresh: Shape): void {
  const [expected, actual] = [fresh, folded].map((state) => comparable(version, kind, state))
  const difference = firstDifference(expected, actual, kind)
  if (difference !== undefined) throw difference
}

/** Fields that change without an action. Only a new snapshot shows their new values. */
const withoutActions: { readonly [kind: string]: readonly string[] } = {
  session: ['project', 'annotations'],
  chat: ['title', 'interactivity', 'changes'],
}

function comparable(version: Version, kind: KindName, state: Shape): unknown {
  const keys = withoutActions[kind] ?? []
  const left = omit(withoutTimes(shapeOf(withoutGaps(version, kind, state))) as Shape, ...keys)
  return 'summary' in left ? { ...left, summary: omit(shapeOf(left['summary']), ...keys) } : left
}

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => key !== 'modifiedAt')
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutTimes(item)]))
}

/** The first place where two values differ. A whole state would be too long for a report. */
function firstDifference(expected: unknown, actual: unknown, path: string): Failed | undefined {
  if (canonical(expected) === canonical(actual)) return undefined
  if (isBranch(expected) && isBranch(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)])
    for (const key of keys) {
      const found = firstDifference(expected[key], actual[key], `${path}.${key}`)
      if (found) return found
    }
  }
  return new Failed(
    `${path} as a new subscriber gets it: ${excerpt(expected ?? null)}`,
    excerpt(actual ?? null),
  )
}

function isBranch(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null
}
