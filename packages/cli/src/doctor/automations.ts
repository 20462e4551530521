import { missedWords, missesOf } from '@atrium/protocol/automation/timeline'
import type { AutomationEntry } from '@atrium/protocol/automation/state'
import type { Client } from '@atrium/client/client'
import { automationsUri } from '@atrium/protocol/uri'
import { localTime } from '../terminal/local-time.ts'
import { onOneLine } from '../terminal/output.ts'
import { ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

/** Warns of each automation that has missed runs since it last ran. Hosts without automations have no finding. */
export async function automationFindings(client: Client): Promise<readonly Finding[]> {
  const list = client.subscribe('automation', automationsUri)
  const entries = await list.ready().then(
    (state) => state.entries,
    () => [],
  )
  const missing = entries.flatMap(missedFinding)
  if (entries.length === 0 || missing.length > 0) return missing
  return [ok('automations', `${entries.length}, and none has missed runs since it last ran`)]
}

export function missedFinding(entry: AutomationEntry): readonly Finding[] {
  const { definition, runs } = entry
  const newest = missesOf(entry)?.newest
  const lastRun =
    runs
      .map(({ lifecycle }) => lifecycle.createdAt)
      .toSorted()
      .at(-1) ?? ''
  // Somebody has paused it on purpose, or a run stands for what was missed.
  if (!newest || newest.to <= lastRun || wanted.has(newest.because)) return []
  const { count, to, because } = newest
  const title = onOneLine(definition.title)
  const runsWords = count === 1 ? '1 run' : `${count} runs`
  return [
    warn(
      'automation',
      `${title} has missed ${runsWords} since it last ran, the last at ${localTime(to)}: ${onOneLine(missedWords(because))}`,
      'see: atrium cron log; it runs only while the host runs',
    ),
  ]
}

const wanted: ReadonlySet<string> = new Set(['disabled', 'coalesced'])
