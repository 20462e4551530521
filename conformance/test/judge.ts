import { expect } from 'vitest'
import { runRules } from '../src/kit/run.ts'
import type { Verdict } from '../src/kit/run.ts'
import { topics } from '../src/rules/all.ts'
import type { Fault } from './faults.ts'
import { prompts } from './wrong-asking.ts'
import { startWrongHost } from './wrong-host.ts'

/** Only what never comes takes this long. */
export const timeoutMs = 5000

/** Some faults keep several rules waiting, and on a busy machine all rules take their time. */
export const limitMs = 90_000

/** The kit at a host of the fixture. It ends here and not with the test, because these run side by side. */
export async function judge(fault?: Fault, versions = ['1.0.0']): Promise<readonly Verdict[]> {
  const { url, close } = await startWrongHost(fault)
  try {
    return await runRules({ url, timeoutMs, turnMs: timeoutMs }, { versions, topics, ...prompts })
  } finally {
    await close()
  }
}

/** One fault is found out by these rules and by no other. */
export async function expectFound(fault: string, expected: readonly string[]): Promise<void> {
  const failed = (await judge(fault as Fault)).filter(({ outcome }) => outcome === 'fail')
  expect(failed.map(({ rule, detail }) => ({ id: rule.id, detail }))).toEqual(
    expected.map((id) => ({ id, detail: expect.stringContaining('expected ') as string })),
  )
}
