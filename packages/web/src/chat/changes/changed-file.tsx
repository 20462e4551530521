import type { Client } from '@atrium/client/client'
import type { ChangesetFile, ChangesetOperation } from '@atrium/protocol/changeset/state'
import { useState } from 'preact/hooks'
import { FileEditView } from '../tools/file-edit.tsx'
import { visibleText } from '../shared/text.ts'
import { OperationButton } from './operation-button.tsx'
import { pathIn } from './scopes.ts'

interface Props {
  readonly client: Client
  readonly channel: string
  readonly file: ChangesetFile
  readonly folders: readonly string[]
  readonly operations: readonly ChangesetOperation[]
  readonly opened: boolean
  readonly onReview: (reviewed: boolean) => void
  readonly say: (text: string) => void
}

/** A changed file: its path, its diff, a mark that somebody has read it, and what can be done with it. */
export function ChangedFile({ client, channel, file, folders, operations, opened, onReview, say }: Props) {
  const [open, setOpen] = useState(opened)
  const { edit, reviewed = false } = file
  const uri = edit.after?.uri ?? edit.before?.uri ?? ''
  const path = visibleText(pathIn(uri, folders))
  const { added, removed } = edit.diff ?? {}
  return (
    <details
      class={`changed${reviewed ? ' reviewed' : ''}`}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span class="changed-path">{path}</span>
        {added !== undefined && <span class="plus">+{added}</span>}
        {removed !== undefined && <span class="minus">−{removed}</span>}
      </summary>
      {open && (
        <div class="changed-body">
          <div class="changed-row">
            <label class="check">
              <input
                type="checkbox"
                checked={reviewed}
                onChange={(event) => onReview(event.currentTarget.checked)}
              />
              <span>Reviewed</span>
            </label>
            {operations.map((operation) => (
              <OperationButton
                key={operation.id}
                client={client}
                channel={channel}
                operation={operation}
                resource={uri}
                say={say}
              />
            ))}
          </div>
          <FileEditView client={client} edit={edit} />
        </div>
      )}
    </details>
  )
}
