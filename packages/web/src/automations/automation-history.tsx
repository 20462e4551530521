import type { AutomationEntry, AutomationRunSummary } from '@atrium/protocol/automation/state'
import { missedWords, missesOf, originWords, timelineOf } from '@atrium/protocol/automation/timeline'
import type { Happening, MissedRuns } from '@atrium/protocol/automation/timeline'
import { useEffect, useState } from 'preact/hooks'
import { useMay } from '../link/role.ts'
import { Button } from '../ui/button.tsx'
import type { Automations } from './automations.ts'
import { whenWords } from './automation-words.ts'
import { StatusTag } from './status-tag.tsx'

interface Props {
  readonly entry: AutomationEntry
  readonly self: Automations
}

/** The number of lines that are shown. Each click on "Earlier" adds as many. */
const pageLength = 30

/** What has become of an automation: its runs, and what it has missed and why, the newest first. */
export function AutomationHistory({ entry, self }: Props) {
  const [missed, setMissed] = useState<readonly MissedRuns[]>()
  const [most, setMost] = useState(pageLength)
  const owns = useMay('own')
  const { resource, runs, runsNextCursor } = entry
  // The entry tells how many runs were missed. The notes about them are read again when there are more.
  const total = missesOf(entry)?.total ?? 0
  useEffect(() => {
    let current = true
    if (total === 0) setMissed([])
    else void self.missed(entry).then((found) => current && setMissed(found))
    return () => void (current = false)
  }, [self, resource, total])
  if (!missed) return <p class="quiet">Reading…</p>
  const all = timelineOf(runs, missed).toReversed()
  if (all.length === 0) return <p class="quiet">Nothing was due yet.</p>
  return (
    <>
      <ol class="automation-history">
        {all.slice(0, most).map((each) => (
          <li key={keyOf(each)}>
            <time dateTime={each.at}>{whenWords(each.at)}</time>
            {'run' in each ? (
              <RunLine run={each.run} onStop={owns ? () => void self.cancel(each.run) : undefined} />
            ) : (
              <>
                <StatusTag status="missed" session={undefined} />
                <span class="automation-why">{whyMissed(each.missed)}</span>
              </>
            )}
          </li>
        ))}
      </ol>
      {(all.length > most || runsNextCursor !== undefined) && (
        <Button
          look="quiet"
          onClick={() => {
            setMost(most + pageLength)
            void self.earlier(entry)
          }}
        >
          Earlier
        </Button>
      )}
    </>
  )
}

interface RunProps {
  readonly run: AutomationRunSummary
  readonly onStop: (() => void) | undefined
}

function RunLine({ run, onStop }: RunProps) {
  const { lifecycle, primarySession } = run
  const active = lifecycle.status === 'pending' || lifecycle.status === 'running'
  return (
    <>
      <StatusTag status={lifecycle.status} session={primarySession} />
      <span class="automation-why">
        {originWords(run)}
        {lifecycle.status === 'failed' && `: ${lifecycle.error.message}`}
      </span>
      {active && onStop && (
        <Button look="quiet" onClick={onStop}>
          Stop
        </Button>
      )}
    </>
  )
}

function whyMissed({ because, count, to }: MissedRuns): string {
  const words = missedWords(because)
  return count > 1 ? `${count} runs until ${whenWords(to)}: ${words}` : words
}

function keyOf(each: Happening): string {
  return 'run' in each ? each.run.resource : `${each.missed.triggerId} ${each.at} ${each.missed.because}`
}
