import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { changedBy } from './exceptions.ts'
import { reducerProblem } from './reducer-fixture.ts'
import { roundTripProblem } from './round-trip-fixture.ts'

/**
 * The versions whose fixtures this build must pass. The fixtures of older versions need older reducers, so they are
 * only counted.
 */
const judgedVersions = ['0.8.0-dev', '1.0.0']

export interface SetResult {
  readonly version: string
  readonly kind: 'reducers' | 'round-trips'
  readonly judged: boolean
  readonly cases: number
  readonly passed: number
  /** The number of cases whose expected result a later version changed. These cases must fail here. */
  readonly changed: number
  readonly failures: readonly string[]
}

/** Runs every set of fixtures in a folder: `<version>/reducers/*.json` and `<version>/round-trips/*.json`. */
export function runFixtures(folder: string): readonly SetResult[] {
  if (!existsSync(folder)) throw new Error(`no such folder: ${folder}`)
  const results = readdirSync(folder).flatMap((version) => [
    ...runSet(folder, version, 'reducers', reducerProblem),
    ...runSet(folder, version, 'round-trips', roundTripProblem),
  ])
  if (!results.some((result) => result.judged))
    throw new Error(`no fixtures of ${judgedVersions.join(' or ')} in ${folder}`)
  return results
}

function runSet(
  folder: string,
  version: string,
  kind: SetResult['kind'],
  problemOf: (fixture: never) => string | undefined,
): readonly SetResult[] {
  const path = join(folder, version, kind)
  if (!existsSync(path)) return []
  const files = readdirSync(path).filter((file) => file.endsWith('.json'))
  if (!judgedVersions.includes(version))
    return [{ version, kind, judged: false, cases: files.length, passed: 0, changed: 0, failures: [] }]
  let passed = 0
  let changed = 0
  const failures: string[] = []
  for (const file of files) {
    const problem = problemOf(JSON.parse(readFileSync(join(path, file), 'utf8')) as never)
    const rule = changedBy(version, kind, file)
    if (problem === undefined && !rule) passed++
    else if (problem !== undefined && rule) changed++
    else failures.push(`${file}: ${problem ?? `passes, but is listed as changed: ${rule}`}`)
  }
  return [{ version, kind, judged: true, cases: files.length, passed, changed, failures }]
}
