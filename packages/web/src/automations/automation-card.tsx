import type { AutomationEntry } from '@atrium/protocol/automation/state'
import { missesOf } from '@atrium/protocol/automation/timeline'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { Pause, Pencil, Play, Trash2 } from 'lucide'
import { useId, useState } from 'preact/hooks'
import { useMay } from '../link/role.ts'
import { pathIn } from '../sessions/grouping.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import type { Automations } from './automations.ts'
import { AutomationHistory } from './automation-history.tsx'
import { StatusTag } from './status-tag.tsx'
import { overlapOf } from './automation-draft.ts'
import { triggerWords, whenWords } from './automation-words.ts'

interface Props {
  readonly entry: AutomationEntry
  readonly agents: readonly AgentInfo[]
  readonly self: Automations
  readonly onEdit: (entry: AutomationEntry) => void
  readonly onRemove: (entry: AutomationEntry) => void
}

/** An automation: what it does when, how it went last, and what can be done with it. */
export function AutomationCard({ entry, agents, self, onEdit, onRemove }: Props) {
  const { definition, nextRunAt, runs, operations } = entry
  const { title, session, enabled, triggers } = definition
  const owns = useMay('own')
  const [open, setOpen] = useState(false)
  const heading = useId()
  const [newest] = runs
  const misses = missesOf(entry)
  const excluded = !operations.includes('remove') && overlapOf(definition) === 'skip'
  const agent = agents.find(({ provider }) => provider === session.provider)
  const about = [
    triggers.length === 0 ? 'only by hand' : triggers.map(triggerWords).join('; '),
    agent?.displayName ?? session.provider,
    session.workingDirectories?.map(pathIn).join(', '),
  ]
  return (
    <li class="automation" aria-labelledby={heading}>
      <header class="automation-head">
        <h2 id={heading}>{title}</h2>
        {!enabled && <span class="tag">paused</span>}
        {owns && (
          <span class="automation-tools">
            {operations.includes('run') && (
              <Button
                icon={Play}
                disabled={excluded}
                title={excluded ? 'A run is active, and another one would not begin' : 'Run now'}
                onClick={() => void self.run(entry)}
              >
                Run now
              </Button>
            )}
            {operations.includes('update') && (
              <>
                <Button
                  icon={enabled ? Pause : Play}
                  label={enabled ? 'Pause' : 'Resume'}
                  look="quiet"
                  onClick={() => void self.enable(entry, !enabled)}
                />
                <Button icon={Pencil} label="Edit" look="quiet" onClick={() => onEdit(entry)} />
              </>
            )}
            <Button
              icon={Trash2}
              label="Delete"
              look="quiet"
              title={operations.includes('remove') ? 'Delete' : 'A run is active: stop it first'}
              disabled={!operations.includes('remove')}
              onClick={() => onRemove(entry)}
            />
          </span>
        )}
      </header>
      <p class="quiet">{about.filter((each) => each !== undefined && each !== '').join(' · ')}</p>
      <dl class="automation-facts">
        {nextRunAt !== undefined && (
          <div>
            <dt>Next</dt>
            <dd>
              {whenWords(nextRunAt)}{' '}
              <span class="quiet">
                (<Ago moment={nextRunAt} />)
              </span>
            </dd>
          </div>
        )}
        {newest && (
          <div>
            <dt>Last</dt>
            <dd>
              <StatusTag status={newest.lifecycle.status} session={newest.primarySession} />{' '}
              <Ago moment={newest.lifecycle.createdAt} />
            </dd>
          </div>
        )}
        {misses && (
          <div>
            <dt>Missed</dt>
            <dd>
              {misses.total === 1 ? '1 run' : `${misses.total} runs`}, the last{' '}
              <Ago moment={misses.newest.to} />
            </dd>
          </div>
        )}
      </dl>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>History</summary>
        {open && <AutomationHistory entry={entry} self={self} />}
      </details>
    </li>
  )
}
