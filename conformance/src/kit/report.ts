import type { HostFacts } from './host-facts.ts'
import type { Rule, Topic } from './rule.ts'
import type { Verdict } from './run.ts'
import type { SessionHabits } from './session-habits.ts'
import { absentIn, judgedVersions } from './version.ts'

const labels = { pass: 'pass', fail: 'FAIL', note: 'note', skip: 'skip' }

/**
 * The heading of a report: the version under test, its agent, and the forms of the URIs of new sessions and chats.
 */
export function headingOf({ version, provider }: HostFacts, habits: SessionHabits): string {
  const { sessionForm, chatForm } = habits
  const agent =
    provider === undefined ? '' : `, agent ${provider}, sessions ${sessionForm}, chats ${chatForm}`
  const late = habits.listedAtFirstTurn ? ', sessions listed from their first turn on' : ''
  return `AHP ${version}${agent}${late}`
}

/** The report of one rule. A rule that passed takes one line; the reason of any other outcome follows on further lines. */
export function lineOf({ rule: { id, title, source }, outcome, detail }: Verdict): string {
  const line = `${labels[outcome]}  ${id}  ${title}`
  if (outcome === 'pass') return line
  const cause = { fail: 'rule', note: 'recommendation', skip: undefined }[outcome]
  return `${line}\n           ${detail}${cause === undefined ? '' : `\n           ${cause}: ${source}`}`
}

/** The list of rules: two lines for each, the second with its source in AHP. */
export function listOf(topics: readonly Topic[]): string {
  const lines = topics.flatMap((topic) =>
    topic.rules.map((rule) => {
      const remarks = [topic.name, ...(rule.recommended ? ['recommended'] : []), ...since(topic, rule)]
      return `${rule.id.padEnd(4)} ${remarks.join(', ')}: ${rule.title}\n     ${rule.source}`
    }),
  )
  return lines.join('\n')
}

/** The first version to which a rule applies, if that is not the oldest one that the kit can judge. */
function since(topic: Topic, rule: Rule): readonly string[] {
  const first = judgedVersions.findLast((version) => absentIn(version, topic, rule) === undefined)
  return first === undefined || first === judgedVersions.at(-1) ? [] : [`since ${first}`]
}

export function summaryOf(verdicts: readonly Verdict[]): string {
  const { pass, fail, note, skip } = countsOf(verdicts)
  const notes = note === 0 ? '' : `, ${note} recommendation${note === 1 ? '' : 's'} not followed`
  return `host: ${pass} passed, ${fail} failed, ${skip} skipped${notes}`
}

export function jsonOf(url: string, verdicts: readonly Verdict[]): object {
  const { pass, fail, note, skip } = countsOf(verdicts)
  const rules = verdicts.map(({ version, topic, rule: { id, title, source }, outcome, detail }) => ({
    version,
    topic,
    id,
    title,
    source,
    outcome,
    ...(detail !== undefined && { detail }),
  }))
  return { url: withoutSecrets(url), passed: pass, failed: fail, noted: note, skipped: skip, rules }
}

/** Removes the query of the URL: the query may hold a token, and a report is made to be shared. */
function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

function countsOf(verdicts: readonly Verdict[]): Record<Verdict['outcome'], number> {
  const counts = { pass: 0, fail: 0, note: 0, skip: 0 }
  for (const { outcome } of verdicts) counts[outcome]++
  return counts
}
