import type { KindName } from '../reducers.ts'
import { versions } from '../versions/negotiate.ts'
import type { Version } from '../versions/negotiate.ts'
import { oracleReducer } from './table.ts'
import type { OracleReducer, VersionRules } from './table.ts'
import { v01 } from './v0-1.ts'
import { v02 } from './v0-2.ts'
import { v03 } from './v0-3.ts'
import { v04 } from './v0-4.ts'
import { v050 } from './v0-5-0.ts'
import { v051 } from './v0-5-1.ts'
import { v052 } from './v0-5-2.ts'
import { v06 } from './v0-6.ts'
import { v07 } from './v0-7.ts'
import { v08dev } from './v0-8-dev.ts'
import { v08 } from './v0-8.ts'
import { v09 } from './v0-9.ts'
import { v10 } from './v1-0.ts'

export type { OracleReducer } from './table.ts'

/** A version of AHP, or the development state before 0.8.0, of which fixtures were published. */
export type OracleVersion = Version | '0.8.0-dev'

/**
 * The reducers of one version. Up to 0.3 a session is also its only conversation, so there is no reducer of chats.
 * A kind that the version does not have is absent.
 */
export type Oracle = { readonly [K in KindName]?: OracleReducer } & {
  readonly root: OracleReducer
  readonly session: OracleReducer
  readonly terminal: OracleReducer
}

/** The rules of every version, each made from those of its newer neighbour. */
export const rulesOf: { readonly [V in OracleVersion]: VersionRules } = {
  '0.1.0': v01,
  '0.2.0': v02,
  '0.3.0': v03,
  '0.4.0': v04,
  '0.5.0': v050,
  '0.5.1': v051,
  '0.5.2': v052,
  '0.6.0': v06,
  '0.7.0': v07,
  '0.8.0-dev': v08dev,
  '0.8.0': v08,
  '0.9.0': v09,
  '1.0.0': v10,
}

/** The versions that have an oracle, oldest first. */
export const oracleVersions: readonly OracleVersion[] = versions.flatMap((version) =>
  version === '0.8.0' ? ['0.8.0-dev' as const, version] : [version],
)

const made = new Map<OracleVersion, Oracle>()

/**
 * Returns the reducers of a version, which use the shapes of that version. Tests judge translations by these reducers; the
 * host and the clients do not use them. `now` is the time of the peer that runs the reducer, in milliseconds. Only versions
 * up to 0.8 write it into a state.
 */
export function oracle(version: OracleVersion): Oracle {
  const known = made.get(version)
  if (known) return known
  const reducers = Object.entries(rulesOf[version]).flatMap(([kind, rules]) =>
    rules ? [[kind, oracleReducer(rules)] as const] : [],
  )
  // The kinds that every version has are in every table of rules: hence the cast.
  const oracle = Object.fromEntries(reducers) as unknown as Oracle
  made.set(version, oracle)
  return oracle
}
