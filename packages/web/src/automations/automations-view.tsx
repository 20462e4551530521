import './automations.css'
import type { Client } from '@atrium/client/client'
import type { AutomationEntry } from '@atrium/protocol/automation/state'
import { automationsUri, rootUri } from '@atrium/protocol/uri'
import { ArrowLeft, Plus } from 'lucide'
import { useMemo, useState } from 'preact/hooks'
import { useLiveChannel } from '../link/live-channel.ts'
import { RoleNote } from '../link/role-note.tsx'
import { useMay } from '../link/role.ts'
import { Button } from '../ui/button.tsx'
import { useCommands } from '../ui/commands.ts'
import { Confirm } from '../ui/confirm.tsx'
import { Empty } from '../ui/empty.tsx'
import { AutomationCard } from './automation-card.tsx'
import { AutomationForm } from './automation-form.tsx'
import { byNextRun } from './automation-words.ts'
import { Automations } from './automations.ts'

export interface Props {
  readonly client: Client
  /** The folder that a new automation begins with. Undefined: the host has not told it yet. */
  readonly path: string | undefined
  /** Folders in which sessions have worked lately, the newest first. */
  readonly folders: readonly string[]
  readonly onBack: () => void
  readonly say: (text: string) => void
}

/** The number of automations that are shown at once, and that each click adds. */
const pageLength = 100

/** Work that the host begins by itself: when it is next due, and what has become of it. */
export function AutomationsView({ client, path, folders, onBack, say }: Props) {
  const list = useLiveChannel(client, 'automation', automationsUri)
  const agents = useLiveChannel(client, 'root', rootUri).state?.agents ?? []
  const owns = useMay('own')
  const self = useMemo(() => new Automations(client, say), [client, say])
  /** The automation in the form. `new`: one that does not exist yet. */
  const [edited, setEdited] = useState<AutomationEntry | 'new'>()
  const [removed, setRemoved] = useState<AutomationEntry>()
  const [most, setMost] = useState(pageLength)
  const entries = useMemo(() => byNextRun(list.state?.entries ?? []), [list.state])
  useCommands(
    useMemo(
      () =>
        owns ? [{ id: 'new automation', label: 'New automation', run: () => setEdited('new') }] : noCommands,
      [owns],
    ),
  )
  return (
    <main class="main start">
      <div class="start-column automations">
        <header class="automations-head">
          <h1>
            <Button icon={ArrowLeft} label="Back" look="quiet" onClick={onBack} /> Automations
          </h1>
          {owns && list.state && (
            <Button icon={Plus} look="primary" onClick={() => setEdited('new')}>
              New automation
            </Button>
          )}
        </header>
        <RoleNote needed="own" to="create, start or change automations" />
        {list.problem && (
          <p class="problem" role="alert">
            {list.problem.message}
          </p>
        )}
        {list.state && entries.length === 0 && (
          <Empty title="Nothing runs by itself yet">
            <p>
              An automation begins a session with a task, such as “look through new issues” on weekdays at
              9:30. It runs only while the host runs; what it misses meanwhile is listed with the reason.
            </p>
          </Empty>
        )}
        <ul class="automation-list" aria-label="Automations">
          {entries.slice(0, most).map((entry) => (
            <AutomationCard
              key={entry.resource}
              entry={entry}
              agents={agents}
              self={self}
              onEdit={setEdited}
              onRemove={setRemoved}
            />
          ))}
        </ul>
        {entries.length > most && (
          <Button onClick={() => setMost(most + pageLength)}>Show more ({entries.length - most})</Button>
        )}
      </div>
      {edited && (
        <AutomationForm
          client={client}
          before={edited === 'new' ? undefined : edited}
          agents={agents}
          path={path ?? ''}
          folders={folders}
          onSave={(definition) =>
            edited === 'new' ? self.create(definition) : self.change(edited, definition)
          }
          onClose={() => setEdited(undefined)}
        />
      )}
      {removed && (
        <Confirm
          title={`Delete “${removed.definition.title}”?`}
          text="Its runs and its list of missed runs go with it. The sessions of its runs stay."
          action="Delete"
          careful
          onConfirm={() => void self.remove(removed)}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </main>
  )
}

const noCommands: readonly never[] = []
