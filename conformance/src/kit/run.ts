import { Failed, Skipped } from './check.ts'
import { Kit } from './kit.ts'
import type { Known } from './kit.ts'
import type { Target } from './link.ts'
import { offerOf } from './offer.ts'
import type { Offer } from './offer.ts'
import type { Rule, Topic } from './rule.ts'

/** The generations whose states and actions the kit understands. */
export const judged: readonly string[] = ['1.0.0']

export interface Verdict {
  readonly version: string
  readonly topic: string
  readonly rule: Rule
  readonly outcome: 'pass' | 'fail' | 'skip'
  /** Why it was skipped, or what was expected and what came. */
  readonly detail?: string
}

export interface RunOptions {
  readonly versions: readonly string[]
  readonly topics: readonly Topic[]
  /** The agent to create sessions with; else the first that needs no login. */
  readonly provider?: string | undefined
  /** The model that turns ask for; else the agent's own choice. */
  readonly model?: string | undefined
  /** What makes the agent ask before it uses a tool, put questions, and begin a chat by a tool; else those rules are skipped. */
  readonly toolPrompt?: string | undefined
  readonly formPrompt?: string | undefined
  readonly workerPrompt?: string | undefined
  readonly told?: (verdict: Verdict) => void
}

/** Judges a host, one rule after the other; rejects with Unreachable when there is none. */
export async function runRules(target: Target, options: RunOptions): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  for (const version of options.versions) {
    const { provider, model, toolPrompt, formPrompt, workerPrompt } = options
    const prompts = { toolPrompt, formPrompt, workerPrompt }
    const offer = { ...(await offerOf(target, version, provider)), model, ...prompts }
    const known: Known = {}
    for (const topic of options.topics)
      for (const rule of topic.rules) {
        const verdict = {
          version,
          topic: topic.name,
          rule,
          ...(await judge(target, offer, known, topic, rule)),
        }
        verdicts.push(verdict)
        options.told?.(verdict)
      }
  }
  return verdicts
}

async function judge(
  target: Target,
  offer: Offer,
  known: Known,
  topic: Topic,
  rule: Rule,
): Promise<Pick<Verdict, 'outcome' | 'detail'>> {
  const reason = unjudgeable(offer, topic, rule)
  if (reason !== undefined) return { outcome: 'skip', detail: reason }
  const kit = new Kit(target, offer, known)
  try {
    await rule.run(kit)
    return { outcome: 'pass' }
  } catch (error) {
    if (error instanceof Skipped) return { outcome: 'skip', detail: error.message }
    // Anything else that is thrown is a mistake of the kit's own; it shall not look like a pass.
    const detail = error instanceof Failed ? error.message : `the kit failed: ${String(error)}`
    return { outcome: 'fail', detail }
  } finally {
    await kit.end()
  }
}

function unjudgeable(
  { version, unspoken, sessionless }: Offer,
  topic: Topic,
  rule: Rule,
): string | undefined {
  if (topic.everyVersion) return undefined
  if (!judged.includes(version)) return `the kit cannot judge AHP ${version} yet, only its negotiation`
  return unspoken ?? (rule.needs === 'session' ? sessionless : undefined)
}
