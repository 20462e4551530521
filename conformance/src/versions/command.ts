import { versions } from '@atrium/protocol/versions/negotiate'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { UsageError, exitCodeOf, readCommandLine } from '../options.ts'
import { connect, features, runMatrix } from './matrix.ts'
import { jsonOf, tableOf } from './report.ts'
import { NoSession } from './shared-session.ts'

/** `conformance versions …`: fills in the matrix of features and versions, and returns the exit code. */
export function judgeVersions(
  args: readonly string[],
  out: (text: string) => void,
  err: (text: string) => void,
): Promise<number> {
  return exitCodeOf(async () => {
    const { target, options, json, own } = readCommandLine(args, ['features'])
    const matrix = await runMatrix(target, {
      ...options,
      versions: options.versions?.map(knownVersion),
      features: own['features']?.split(',').map(knownFeature),
    }).catch((error: unknown) => {
      if (!(error instanceof NoSession)) throw error
      err(`conformance: no session: ${error.message}`)
      return undefined
    })
    if (!matrix) return 1
    out(json ? JSON.stringify(jsonOf(target.url, matrix), null, 2) : tableOf(matrix))
    const spoken = matrix.cells.some(({ feature, outcome }) => feature === connect && outcome === 'yes')
    return spoken && matrix.cells.every(({ outcome }) => outcome !== 'failed') ? 0 : 1
  }, err)
}

function knownVersion(text: string): Version {
  const found = versions.find((version) => version === text)
  if (found === undefined)
    throw new UsageError(`--versions must be some of ${versions.join(', ')}, not ${text}`)
  return found
}

function knownFeature(text: string): string {
  const names = features.map(({ name }) => name)
  if (!names.includes(text))
    throw new UsageError(`--features must be some of ${names.join(', ')}, not ${text}`)
  return text
}
