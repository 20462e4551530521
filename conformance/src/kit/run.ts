import { Failed, Skipped } from './check.ts'
import { readHostFacts } from './host-facts.ts'
import type { HostFacts } from './host-facts.ts'
import { Kit } from './kit.ts'
import type { Run, TurnOptions } from './kit.ts'
import type { Target } from './link.ts'
import type { Rule, Topic } from './rule.ts'

/** The versions whose states and actions the kit understands. */
export const judgedVersions: readonly string[] = ['1.0.0']

export interface Verdict {
  readonly version: string
  readonly topic: string
  readonly rule: Rule
  readonly outcome: 'pass' | 'fail' | 'skip'
  /** For a skip, the reason. For a failure, the expected and the actual behaviour. */
  readonly detail?: string
}

export interface RunOptions extends TurnOptions {
  readonly versions: readonly string[]
  readonly topics: readonly Topic[]
  /** The agent to create sessions with. Absent: the first agent that needs no login. */
  readonly provider?: string | undefined
  /** Called after each rule. */
  readonly onVerdict?: (verdict: Verdict) => void
}

/** Judges a host, one rule after the other. Rejects with Unreachable if no connection can be opened. */
export async function runRules(target: Target, options: RunOptions): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  for (const version of options.versions) {
    const facts = await readHostFacts(target, version, options.provider)
    const run: Run = { target, facts, options, skips: {} }
    for (const topic of options.topics)
      for (const rule of topic.rules) {
        const verdict = { version, topic: topic.name, rule, ...(await judge(run, topic, rule)) }
        verdicts.push(verdict)
        options.onVerdict?.(verdict)
      }
  }
  return verdicts
}

async function judge(run: Run, topic: Topic, rule: Rule): Promise<Pick<Verdict, 'outcome' | 'detail'>> {
  const reason = skipReason(run.facts, topic, rule)
  if (reason !== undefined) return { outcome: 'skip', detail: reason }
  const kit = new Kit(run)
  try {
    await rule.run(kit)
    return { outcome: 'pass' }
  } catch (error) {
    if (error instanceof Skipped) return { outcome: 'skip', detail: error.message }
    // Any other error is a bug of the kit. The rule counts as failed, because its test did not come to an end.
    const detail = error instanceof Failed ? error.message : `the kit failed: ${String(error)}`
    return { outcome: 'fail', detail }
  } finally {
    await kit.end()
  }
}

function skipReason(
  { version, versionRefused, noSession }: HostFacts,
  topic: Topic,
  rule: Rule,
): string | undefined {
  if (topic.everyVersion) return undefined
  if (!judgedVersions.includes(version))
    return `the kit cannot judge AHP ${version} yet, only its version negotiation`
  return versionRefused ?? (rule.needs === 'session' ? noSession : undefined)
}
