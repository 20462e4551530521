import { expect } from 'vitest'
import { runRules } from '../src/kit/run.ts'
import type { Verdict } from '../src/kit/run.ts'
import { share } from '../../packages/protocol/test/search.ts'
import type { Topic } from '../src/kit/rule.ts'
import { topics } from '../src/rules/all.ts'
import { faults } from './faults.ts'
import type { Fault } from './faults.ts'
import { prompts } from './wrong-input-requests.ts'
import { dialWrongHost } from './wrong-host.ts'

/** The wrong host answers much faster than this, so a rule waits this long only for a message that never comes. */
export const timeoutMs = 5000

/**
 * A turn of the wrong host ends at once, but on a very busy machine this may take longer than `timeoutMs`. With that timeout, a
 * rule would be skipped.
 */
export const turnTimeoutMs = 60_000

/** The time limit of one test. Some faults make several rules wait for a timeout, and all rules are slow on a busy machine. */
export const limitMs = 300_000

/** Runs the kit against a wrong host, which it reaches without a network. */
export async function judge(
  fault?: Fault,
  versions = ['1.0.0'],
  chosen = topics,
): Promise<readonly Verdict[]> {
  const dial = dialWrongHost(...(fault === undefined ? [] : [fault]))
  // A turn that never ends needs no long wait.
  const turnMs = fault === 'turnNeverEnds' ? timeoutMs : turnTimeoutMs
  const target = { url: 'ws://in-memory', dial, timeoutMs, turnTimeoutMs: turnMs }
  return runRules(target, { versions, topics: chosen, ...prompts })
}

/**
 * The rules to run for a fault: those that must find it and one in sixteen of the others, or the share of them that `ATRIUM_SEARCH`
 * asks for; which ones depends on the fault.
 */
function rulesFor(fault: Fault, expected: readonly string[]): readonly Topic[] {
  const every = share > 0 ? Math.ceil(1 / share) : 16
  const offset = Object.keys(faults).indexOf(fault) % every
  const ids = topics.flatMap(({ rules }) => rules.map(({ id }) => id))
  const chosen = new Set([...expected, ...ids.filter((_, at) => at % every === offset)])
  return topics.map((topic) => ({ ...topic, rules: topic.rules.filter(({ id }) => chosen.has(id)) }))
}

/** Checks that exactly the expected rules fail. */
export async function expectFoundBy(name: string, expected: readonly string[]): Promise<void> {
  // The test tables name faults by plain strings.
  const fault = name as Fault
  const verdicts = await judge(fault, undefined, rulesFor(fault, expected))
  const failed = verdicts.filter(({ outcome }) => outcome === 'fail' || outcome === 'note')
  expect(failed.map(({ rule, detail }) => ({ id: rule.id, detail }))).toEqual(
    expected.map((id) => ({ id, detail: expect.stringContaining('expected ') as string })),
  )
}
