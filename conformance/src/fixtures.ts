import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { oracleVersions } from '@atrium/protocol/oracles'
import type { OracleVersion } from '@atrium/protocol/oracles'
import { nativeVersion } from '@atrium/protocol/versions/negotiate'
import { changedBy } from './exceptions.ts'
import type { Change } from './exceptions.ts'
import { reducerProblem } from './reducer-fixture.ts'
import type { ReducerFixture, ReducerProblem } from './reducer-fixture.ts'
import { roundTripProblem } from './round-trip-fixture.ts'
import type { RoundTripFixture } from './round-trip-fixture.ts'

export interface SetResult {
  readonly version: string
  readonly kind: 'reducers' | 'round-trips'
  /** The version whose reducers or shapes judged the set. */
  readonly by: OracleVersion
  readonly cases: number
  readonly passed: number
  /** The number of cases whose expected result a later version changed. In these cases the result must differ exactly as listed. */
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

type Problem = Pick<ReducerProblem, 'text'> & Partial<ReducerProblem>

/** One way to judge the files of a set. */
interface Judgement {
  readonly kind: SetResult['kind']
  readonly by: OracleVersion
  readonly problemOf: (fixture: never) => Problem | undefined
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
      problemOf: (fixture: RoundTripFixture) => {
        const text = roundTripProblem(version, fixture)
        return text === undefined ? undefined : { text }
      },
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
    const change = by === version ? undefined : changedBy(file)
    const failure = change ? wrongChange(change, problem) : problem?.text
    if (failure !== undefined) failures.push(`${file}: ${failure}`)
    else if (change) changed++
    else passed++
  }
  return [{ version, kind, by, cases: files.length, passed, changed, failures }]
}

/** What is wrong if a listed case has this result; undefined if it differs exactly where the rule says. */
function wrongChange({ rule, differs }: Change, problem: Problem | undefined): string | undefined {
  if (!problem) return `passes, but is listed as changed: ${rule}`
  const found = problem.differs ?? []
  if (differs.join() === found.join()) return undefined
  return `differs at ${found.join(', ')}, but is listed as changed at ${differs.join(', ')} (${rule}): ${problem.text}`
}

function isSet(folder: string, name: string): boolean {
  return ['reducers', 'round-trips'].some((kind) => existsSync(join(folder, name, kind)))
}
