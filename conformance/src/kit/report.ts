import type { Verdict } from './run.ts'

const labels = { pass: 'pass', fail: 'FAIL', skip: 'skip' }

/** The report of one rule. A rule that passed takes one line; the reason of a skip or a failure follows on further lines. */
export function lineOf({ rule: { id, title, source }, outcome, detail }: Verdict): string {
  const line = `${labels[outcome]}  ${id}  ${title}`
  if (outcome === 'pass') return line
  return `${line}\n           ${detail}${outcome === 'fail' ? `\n           rule: ${source}` : ''}`
}

export function summaryOf(verdicts: readonly Verdict[]): string {
  const { pass, fail, skip } = countsOf(verdicts)
  return `host: ${pass} passed, ${fail} failed, ${skip} skipped`
}

export function jsonOf(url: string, verdicts: readonly Verdict[]): object {
  const { pass, fail, skip } = countsOf(verdicts)
  const rules = verdicts.map(({ version, topic, rule: { id, title, source }, outcome, detail }) => ({
    version,
    topic,
    id,
    title,
    source,
    outcome,
    ...(detail !== undefined && { detail }),
  }))
  return { url: withoutSecrets(url), passed: pass, failed: fail, skipped: skip, rules }
}

/** Removes the query of the URL: the query may hold a token, and a report is made to be shared. */
function withoutSecrets(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

function countsOf(verdicts: readonly Verdict[]): { pass: number; fail: number; skip: number } {
  const counts = { pass: 0, fail: 0, skip: 0 }
  for (const { outcome } of verdicts) counts[outcome]++
  return counts
}
