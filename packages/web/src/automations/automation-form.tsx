import type { Client } from '@atrium/client/client'
import { phraseExamples } from '@atrium/protocol/automation/phrases'
import type { AutomationDefinition, AutomationEntry } from '@atrium/protocol/automation/state'
import { definitionFor, nextInstants, overlaps } from '@atrium/protocol/automation/task'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { useId, useState } from 'preact/hooks'
import { FolderField } from '../start/folder-field.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { GrowingText } from '../ui/growing-text.tsx'
import { draftOf, readDraft } from './automation-draft.ts'
import { triggerWords, whenWords } from './automation-words.ts'

interface Props {
  readonly client: Client
  /** The automation that is edited. Undefined: a new one. */
  readonly before: AutomationEntry | undefined
  readonly agents: readonly AgentInfo[]
  readonly path: string
  readonly folders: readonly string[]
  /** Returns why the host has not taken the definition; undefined if it has. */
  readonly onSave: (definition: AutomationDefinition) => Promise<string | undefined>
  readonly onClose: () => void
}

const overlapWords: { readonly [O in (typeof overlaps)[number]]: string } = {
  skip: 'is missed',
  queue: 'waits for it',
  parallel: 'begins beside it',
}

const hasFolder = ({ definition }: AutomationEntry) => definition.session.workingDirectories?.length ?? 0

/** Creates an automation, or edits one: a task, when, by whom and where. */
export function AutomationForm({ client, before, agents, path, folders, onSave, onClose }: Props) {
  const [draft, setDraft] = useState(() => draftOf(before?.definition, { path, agents }))
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)
  const zones = useId()
  const { task, schedule, problem: wrong } = readDraft(draft)
  const set = (changes: Partial<typeof draft>) => setDraft({ ...draft, ...changes })
  const save = async () => {
    if (busy || !task) return
    setBusy(true)
    const refused = await onSave(definitionFor(task, before?.definition))
    if (refused === undefined) return onClose()
    setProblem(refused)
    setBusy(false)
  }
  const next = schedule && nextInstants(schedule, Date.now())
  return (
    <Dialog title={before ? 'Edit the automation' : 'New automation'} wide onClose={onClose}>
      <form
        class="stack automation-form"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <div class="field">
          <span>Task</span>
          <GrowingText
            value={draft.text}
            label="Task"
            placeholder="What shall an agent do each time?"
            rows={3}
            autoFocus
            onInput={(text) => set({ text })}
          />
        </div>
        {draft.triggers ? (
          <div class="field">
            <span>When</span>
            <p>{draft.triggers.map(triggerWords).join('; ')}</p>
            <small>These triggers stay as they are. This page can change one schedule only.</small>
          </div>
        ) : (
          <div class="automation-when">
            <label class="field">
              <span>When</span>
              <input
                type="text"
                value={draft.when}
                placeholder="weekdays 9:30"
                autocomplete="off"
                spellcheck={false}
                onInput={({ currentTarget }) => set({ when: currentTarget.value })}
              />
            </label>
            <label class="field">
              <span>Time zone</span>
              <input
                type="text"
                value={draft.zone}
                list={zones}
                autocomplete="off"
                spellcheck={false}
                onInput={({ currentTarget }) => set({ zone: currentTarget.value })}
              />
            </label>
            <datalist id={zones}>
              {Intl.supportedValuesOf('timeZone').map((zone) => (
                <option key={zone} value={zone} />
              ))}
            </datalist>
            <p class="quiet automation-next" role="status">
              {next
                ? `Next: ${next.map(whenWords).join(' · ')}`
                : (wrong ?? `Empty: it runs only by hand. Else ${phraseExamples}.`)}
            </p>
          </div>
        )}
        <div class="automation-where">
          <label class="field">
            <span>Agent</span>
            <select
              value={draft.provider}
              onChange={({ currentTarget }) => set({ provider: currentTarget.value })}
            >
              {agents.map(({ provider, displayName }) => (
                <option key={provider} value={provider}>
                  {displayName}
                </option>
              ))}
            </select>
          </label>
          <div class="field">
            <span>{before && !hasFolder(before) ? 'Folder (none so far)' : 'Folder'}</span>
            <FolderField
              client={client}
              path={draft.path}
              recent={folders}
              onPick={(picked) => set({ path: picked })}
            />
          </div>
        </div>
        <details>
          <summary>More</summary>
          <div class="stack">
            <label class="field">
              <span>Title</span>
              <input
                type="text"
                value={draft.title}
                maxLength={200}
                placeholder="The first line of the task"
                onInput={({ currentTarget }) => set({ title: currentTarget.value })}
              />
            </label>
            {!draft.triggers && (
              <label class="field">
                <span>When the host was away at the time</span>
                <select
                  value={draft.skipsLate ? 'skip' : 'run'}
                  onChange={({ currentTarget }) => set({ skipsLate: currentTarget.value === 'skip' })}
                >
                  <option value="run">run once, as soon as it is back</option>
                  <option value="skip">run nothing</option>
                </select>
              </label>
            )}
            <label class="field">
              <span>While an earlier run is active, a new one</span>
              <select
                value={draft.overlap}
                onChange={({ currentTarget }) => set({ overlap: currentTarget.value })}
              >
                {overlaps.map((each) => (
                  <option key={each} value={each}>
                    {overlapWords[each]}
                  </option>
                ))}
              </select>
            </label>
          </div>
        </details>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button submit look="primary" disabled={busy || !task}>
            {before ? 'Save' : 'Create'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
