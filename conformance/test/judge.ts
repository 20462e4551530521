import { expect } from 'vitest'
import { runRules } from '../src/kit/run.ts'
import type { Verdict } from '../src/kit/run.ts'
import { topics } from '../src/rules/all.ts'
import type { Fault } from './faults.ts'
import { prompts } from './wrong-input-requests.ts'
import { startWrongHost } from './wrong-host.ts'

/** Only a message that never comes takes this long. */
export const timeoutMs = 5000

/** Some faults make several rules wait for a timeout, and all rules are slow on a busy machine. */
export const limitMs = 90_000

/** Runs the kit against a wrong host. The host is closed here and not at the end of the test, because tests run concurrently. */
export async function judge(fault?: Fault, versions = ['1.0.0']): Promise<readonly Verdict[]> {
  const { url, close } = await startWrongHost(fault)
  try {
    return await runRules({ url, timeoutMs, turnTimeoutMs: timeoutMs }, { versions, topics, ...prompts })
  } finally {
    await close()
  }
}

/** Checks that exactly the expected rules fail. */
export async function expectFoundBy(fault: string, expected: readonly string[]): Promise<void> {
  const failed = (await judge(fault as Fault)).filter(({ outcome }) => outcome === 'fail')
  expect(failed.map(({ rule, detail }) => ({ id: rule.id, detail }))).toEqual(
    expected.map((id) => ({ id, detail: expect.stringContaining('expected ') as string })),
  )
}
