import { knows } from '@atrium/protocol/versions/known'
import { isBefore, negotiate, versions } from '@atrium/protocol/versions/negotiate'
import type { Version } from '@atrium/protocol/versions/negotiate'

/**
 * The versions whose states and actions the kit understands, newest first. Their shapes and reducers are those of 1.0,
 * because 1.0 only adds optional fields and new names to 0.9.
 */
export const judgedVersions: readonly Version[] = ['1.0.0', '0.9.0']

/** What a version of AHP must have so that a rule applies to it. */
export interface Needed {
  /** Actions and commands that the rule uses. */
  readonly uses?: readonly string[]
  /** The first version that demands the behaviour. Absent: every version that has the names in `uses`. */
  readonly since?: Version
}

/**
 * Of the versions that the kit can judge, the one that is compatible with the version a host offers. `undefined`: none is,
 * so that the kit cannot judge the host.
 */
export function judgedAs(version: string): Version | undefined {
  return knownAs(version, judgedVersions.toReversed())
}

/** Tells whether a version has an action, command or notification of this name. */
export function defines(version: string, name: string): boolean {
  const judged = judgedAs(version)
  return judged !== undefined && knows(judged, name)
}

/** The reason why a rule does not apply to this version of AHP; undefined if it applies. */
export function absentIn(version: string, topic: Needed, rule: Needed): string | undefined {
  const missing = [...(topic.uses ?? []), ...(rule.uses ?? [])].find((name) => !defines(version, name))
  if (missing !== undefined) return `AHP ${version} has no ${missing}`
  const since = rule.since ?? topic.since
  const known = knownAs(version, versions)
  return since !== undefined && known !== undefined && isBefore(known, since)
    ? `AHP ${version} leaves this to the host; it is a rule since ${since}`
    : undefined
}

function knownAs(version: string, among: readonly Version[]): Version | undefined {
  try {
    return negotiate([version], among).version
  } catch {
    return undefined
  }
}
