import type { Client } from '@atrium/client/client'
import type { FileEdit } from '@atrium/protocol/common/content'
import { Diff } from '../../ui/diff/diff.tsx'
import { useHiddenLines } from '../../ui/unseen.ts'
import { useFileContents } from '../shared/file-contents.ts'
import { visibleText } from '../shared/text.ts'

/** The lines around a change, and the most lines that have room. */
const contextLines = 2
const mostLines = 22

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
      {typeof contents !== 'object' && <Unread lines={(added ?? 0) + (removed ?? 0)} />}
      {contents === undefined && <Reading lines={(added ?? 0) + (removed ?? 0)} />}
      {typeof contents === 'string' && <p class="problem">The change cannot be shown: {contents}</p>}
      {typeof contents === 'object' && (
        <Diff path={pathOf(edit)} before={contents.before} after={contents.after} />
      )}
    </figure>
  )
}

/** Counts the lines of a change that is not on the screen: it is not read yet, or cannot be read. */
function Unread({ lines }: { readonly lines: number }) {
  useHiddenLines(Math.max(1, lines))
  return null
}

/** The room of a change that is still read, so that nothing below it moves. Its words come only after a moment. */
function Reading({ lines }: { readonly lines: number }) {
  return (
    <p class="quiet reading" style={{ minHeight: `${Math.min(lines + contextLines, mostLines) * 1.22}rem` }}>
      Reading the change…
    </p>
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
