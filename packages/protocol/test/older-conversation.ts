import { oracle, oracleVersions } from '../src/oracles/oracle.ts'
import type { OracleVersion } from '../src/oracles/oracle.ts'
import { deepFreeze } from './cases.ts'

/** The versions from one to another, both included. */
export function versionsFrom(first: OracleVersion, last: OracleVersion): readonly OracleVersion[] {
  return oracleVersions.slice(oracleVersions.indexOf(first), oracleVersions.indexOf(last) + 1)
}

/** One row for each version of each span: the version, and what it is expected to do. */
export function spans<T>(
  ...rows: readonly (readonly [first: OracleVersion, last: OracleVersion, expected: T])[]
): readonly { readonly version: OracleVersion; readonly expected: T }[] {
  const all = rows.flatMap(([first, last, expected]) =>
    versionsFrom(first, last).map((version) => ({ version, expected })),
  )
  if (new Set(all.map(({ version }) => version)).size !== all.length) throw new Error('spans overlap')
  return all
}

/** The time of the peer that runs the reducer in these tests, and its form in states with ISO times. */
export const now = 7000
export const nowIso = '1970-01-01T00:00:07.000Z'

type Json = { readonly [key: string]: unknown }

/** Reduces actions as a version does. The state is frozen, because a reducer must not change it. */
export function reduce(
  version: OracleVersion,
  kind: keyof ReturnType<typeof oracle>,
  state: Json,
  ...actions: readonly ({ readonly type: string } & Json)[]
): Json {
  const reducer = oracle(version)[kind]
  if (!reducer) throw new Error(`no ${kind} at ${version}`)
  return deepFreeze(actions).reduce(
    (before, action) => deepFreeze(reducer(before, action, now)),
    deepFreeze(state),
  )
}

const hasChats = (version: OracleVersion) => versionsFrom('0.4.0', '1.0.0').includes(version)

/**
 * Reduces the conversation of a version: a chat from 0.4 on, the session before. `state` is written as a chat with the
 * time in milliseconds, and actions without the name of their channel, so that all versions can be compared.
 */
export function converse(
  version: OracleVersion,
  state: Json,
  ...actions: readonly ({ readonly type: string } & Json)[]
): Json {
  const channel = hasChats(version) ? 'chat' : 'session'
  const typed = actions.map((action) => ({ ...action, type: `${channel}/${action.type}` }))
  const { status, modifiedAt, ...rest } = { status: 1, modifiedAt: 1000, turns: [], ...state }
  if (hasChats(version)) {
    const chat = { ...rest, status, modifiedAt: new Date(modifiedAt).toISOString() }
    const after = reduce(version, 'chat', chat, ...typed)
    return { ...after, modifiedAt: Date.parse(String(after['modifiedAt'])) }
  }
  const { summary, ...after } = reduce(
    version,
    'session',
    { ...rest, summary: { status, modifiedAt } },
    ...typed,
  )
  return { ...after, ...(summary as Json) }
}
