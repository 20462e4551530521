import { Failed, Skipped } from './check.ts'
import { readHabits } from './habits.ts'
import type { NamedForms } from './habits.ts'
import { readHostFacts, selectedVersion } from './host-facts.ts'
import type { HostFacts } from './host-facts.ts'
import { Kit } from './kit.ts'
import type { Run, SessionOptions } from './kit.ts'
import type { Target } from './link.ts'
import type { Rule, Topic } from './rule.ts'
import { usualHabits } from './session-habits.ts'
import type { SessionHabits } from './session-habits.ts'
import { absentIn, judgedAs } from './version.ts'

export interface Verdict {
  readonly version: string
  readonly topic: string
  readonly rule: Rule
  /** `note`: the host does not follow a recommendation. */
  readonly outcome: 'pass' | 'fail' | 'note' | 'skip'
  /** For a skip, the reason. For a failure or a note, the expected and the actual behaviour. */
  readonly detail?: string
}

export interface RunOptions extends SessionOptions {
  /** The versions to judge. Absent: the one that the host selects from those that the kit can judge. */
  readonly versions?: readonly string[] | undefined
  readonly topics: readonly Topic[]
  /** The agent to create sessions with. Absent: the first agent that needs no login. */
  readonly provider?: string | undefined
  /** The forms of the URIs of new sessions and chats. Absent: found by trying. */
  readonly forms?: NamedForms | undefined
  /** Called before the rules of each version. */
  readonly onVersion?: (facts: HostFacts, habits: SessionHabits) => void
  /** Called after each rule. */
  readonly onVerdict?: (verdict: Verdict) => void
}

/** Judges a host, one rule after the other. Rejects with Unreachable if no connection can be opened. */
export async function runRules(target: Target, options: RunOptions): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  for (const version of options.versions ?? [await selectedVersion(target)]) {
    const facts = await readHostFacts(target, version, options.provider)
    const habits = await habitsFor({ target, facts, options, skips: {} }, options)
    const run: Run = { target, facts, habits, options, skips: {} }
    options.onVersion?.(facts, habits)
    for (const topic of options.topics)
      for (const rule of topic.rules) {
        const verdict = { version, topic: topic.name, rule, ...(await judge(run, topic, rule)) }
        verdicts.push(verdict)
        options.onVerdict?.(verdict)
      }
  }
  return verdicts
}

/** The habits of the host. The kit does not search for them if no chosen rule creates a session. */
function habitsFor(run: Omit<Run, 'habits'>, { topics, forms = {} }: RunOptions): Promise<SessionHabits> {
  const needed = topics.some((topic) =>
    topic.rules.some((rule) => needsSession(topic, rule) && skipReason(run.facts, topic, rule) === undefined),
  )
  return needed ? readHabits(run, forms) : Promise.resolve(usualHabits)
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
    return { outcome: error instanceof Failed && rule.recommended ? 'note' : 'fail', detail }
  } finally {
    await kit.end()
  }
}

function skipReason(
  { version, versionRefused, noSession }: HostFacts,
  topic: Topic,
  rule: Rule,
): string | undefined {
  if (!topic.everyVersion && judgedAs(version) === undefined)
    return `the kit cannot judge AHP ${version} yet, only its version negotiation`
  const absent = absentIn(version, topic, rule)
  if (absent !== undefined || topic.everyVersion) return absent
  return versionRefused ?? (needsSession(topic, rule) ? noSession : undefined)
}

function needsSession(topic: Topic, rule: Rule): boolean {
  return !(topic.sessionless ?? rule.sessionless)
}
