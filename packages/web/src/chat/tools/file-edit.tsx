import type { Client } from '@atrium/client/client'
import type { FileEdit } from '@atrium/protocol/common/content'
import { Diff } from '../../ui/diff/diff.tsx'
import { useFileContents } from '../shared/file-contents.ts'
import { visibleText } from '../shared/text.ts'

interface Props {
  readonly client: Client
  readonly edit: FileEdit
}

/** A change of a file, as a diff. Both sides are read from the host when the change is shown. */
export function FileEditView({ client, edit }: Props) {
  const contents = useFileContents(client, edit)
  const { added, removed } = edit.diff ?? {}
  return (
    <figure class="edit">
      <figcaption>
        <span class="edit-path">{pathOf(edit)}</span>
        <span class="edit-kind">{kindOf(edit)}</span>
        {added !== undefined && <span class="plus">+{added}</span>}
        {removed !== undefined && <span class="minus">−{removed}</span>}
      </figcaption>
      {contents === undefined && <p class="quiet">Reading the change…</p>}
      {typeof contents === 'string' && <p class="problem">The change cannot be shown: {contents}</p>}
      {typeof contents === 'object' && <Diff before={contents.before} after={contents.after} />}
    </figure>
  )
}

function pathOf({ before, after }: FileEdit): string {
  const uri = after?.uri ?? before?.uri ?? ''
  try {
    return visibleText(decodeURIComponent(uri.replace(/^file:\/\//, '')))
  } catch {
    return visibleText(uri)
  }
}

function kindOf({ before, after }: FileEdit): string {
  return before === undefined ? 'new file' : after === undefined ? 'deleted' : 'changed'
}
