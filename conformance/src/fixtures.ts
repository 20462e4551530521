import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { oracleVersions } from '@atrium/protocol/oracles'
import type { OracleVersion } from '@atrium/protocol/oracles'
import { nativeVersion } from '@atrium/protocol/versions/negotiate'
import { changedBy } from './exceptions.ts'
import { reducerProblem } from './reducer-fixture.ts'
import type { ReducerFixture } from './reducer-fixture.ts'
import { roundTripProblem } from './round-trip-fixture.ts'
import type { RoundTripFixture } from './round-trip-fixture.ts'

export interface SetResult {
  readonly version: string
  readonly kind: 'reducers' | 'round-trips'
  /** The version whose reducers or shapes judged the set. */
  readonly by: OracleVersion
  readonly cases: number
  readonly passed: number
  /** The number of cases whose expected result a later version changed. These cases must fail here. */
  readonly changed: number
  readonly failures: readonly string[]
}

/** The set that the reducers of 1.0 must pass too, except the cases that a later version changed. */
const alsoNative: OracleVersion = '0.8.0-dev'

/** Runs every set of fixtures in a folder: `<version>/reducers/*.json` and `<version>/round-trips/*.json`. */
export function runFixtures(folder: string): readonly SetResult[] {
  if (!existsSync(folder)) throw new Error(`no such folder: ${folder}`)
  const names = readdirSync(folder).filter((name) => isSet(folder, name))
  const unknown = names.find((name) => !oracleVersions.some((version) => version === name))
  if (unknown !== undefined) throw new Error(`no version of AHP is called ${unknown}`)
  const results = oracleVersions
    .filter((version) => names.includes(version))
    .flatMap((version) => judgementsOf(version).flatMap((judgement) => runSet(folder, version, judgement)))
  if (results.length === 0) throw new Error(`no fixtures in ${folder}`)
  return results
}

/** The versions that have no reducer cases in a run. Their reducers are tested by the protocol package only. */
export function versionsWithoutCases(results: readonly SetResult[]): readonly OracleVersion[] {
  const judged = new Set(results.filter(({ kind }) => kind === 'reducers').map(({ version }) => version))
  return oracleVersions.filter((version) => !judged.has(version))
}

/** One way to judge the files of a set. */
interface Judgement {
  readonly kind: SetResult['kind']
  readonly by: OracleVersion
  readonly problemOf: (fixture: never) => string | undefined
}

function judgementsOf(version: OracleVersion): readonly Judgement[] {
  const reducersOf = (by: OracleVersion): Judgement => ({
    kind: 'reducers',
    by,
    problemOf: (fixture: ReducerFixture) => reducerProblem(by, fixture),
  })
  return [
    reducersOf(version),
    ...(version === alsoNative ? [reducersOf(nativeVersion)] : []),
    {
      kind: 'round-trips',
      by: version,
      problemOf: (fixture: RoundTripFixture) => roundTripProblem(version, fixture),
    },
  ]
}

function runSet(folder: string, version: OracleVersion, judgement: Judgement): readonly SetResult[] {
  const { kind, by, problemOf } = judgement
  const path = join(folder, version, kind)
  if (!existsSync(path)) return []
  const files = readdirSync(path).filter((file) => file.endsWith('.json'))
  let passed = 0
  let changed = 0
  const failures: string[] = []
  for (const file of files) {
    // The cast is safe, because the published files in a folder have the shape of its kind.
    const problem = problemOf(JSON.parse(readFileSync(join(path, file), 'utf8')) as never)
    const rule = by === version ? undefined : changedBy(file)
    if (problem === undefined && !rule) passed++
    else if (problem !== undefined && rule) changed++
    else failures.push(`${file}: ${problem ?? `passes, but is listed as changed: ${rule}`}`)
  }
  return [{ version, kind, by, cases: files.length, passed, changed, failures }]
}

function isSet(folder: string, name: string): boolean {
  return ['reducers', 'round-trips'].some((kind) => existsSync(join(folder, name, kind)))
}
