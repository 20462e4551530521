import type { ChangesetFile, ChangesetOperation } from '@atrium/protocol/changeset/state'
import { MessageSquare, MessageSquarePlus } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useMay } from '../../link/role.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useFileContents } from '../shared/file-contents.ts'
import { ownMember } from '../shared/member.ts'
import { visibleText } from '../shared/text.ts'
import { useChanges } from './context.ts'
import { FileDiff } from './file-diff.tsx'
import { useNewComment } from './new-comment.ts'
import { OperationButton } from './operation-button.tsx'
import { pathIn } from './scopes.ts'

interface Props {
  readonly channel: string
  readonly file: ChangesetFile
  /** The operations of the changeset. */
  readonly operations: readonly ChangesetOperation[]
  readonly opened: boolean
  /**
   * A new number each time a person chooses this file in the tree: the file then opens and comes into view. 0: not
   * chosen.
   */
  readonly sought: number
  readonly onReview: (reviewed: boolean) => void
}

/** A changed file: its path, its diff, a mark that somebody has read it, and what can be done with it. */
export function ChangedFile({ opened, sought, ...props }: Props) {
  const { comments, folders } = useChanges()
  const [open, setOpen] = useState(opened)
  const place = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (sought === 0) return
    setOpen(true)
    place.current?.scrollIntoView({ block: 'start' })
    place.current?.querySelector('summary')?.focus({ preventScroll: true })
  }, [sought])
  const { edit, reviewed = false } = props.file
  const uri = uriOf(props.file)
  const { added, removed } = edit.diff ?? {}
  const count = comments.all.filter(({ resource, resolved }) => resource === uri && !resolved).length
  return (
    <details
      ref={place}
      class={`changed${reviewed ? ' reviewed' : ''}`}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span class="changed-path">{visibleText(pathIn(uri, folders))}</span>
        {count > 0 && (
          <span class="changed-comments">
            <Icon of={MessageSquare} size={13} /> {count}
            <span class="hidden"> open {count === 1 ? 'comment' : 'comments'}</span>
          </span>
        )}
        {edit.before === undefined && <span class="tag">new</span>}
        {edit.after === undefined && <span class="tag">deleted</span>}
        {added !== undefined && <span class="plus">+{added}</span>}
        {removed !== undefined && <span class="minus">−{removed}</span>}
      </summary>
      {open && <FileBody {...props} />}
    </details>
  )
}

function FileBody({ channel, file, operations, onReview }: Omit<Props, 'opened' | 'sought'>) {
  const { client } = useChanges()
  const { edit, reviewed = false } = file
  const contents = useFileContents(client, edit)
  const draft = useNewComment(edit, typeof contents === 'object' ? contents.after : '')
  const target = { kind: 'resource', resource: uriOf(file) } as const
  const unreadable = reasonNotToShow(file)
  const writes = useMay('prompt')
  return (
    <div class="changed-body">
      <div class="changed-row">
        <label class="check">
          <input
            type="checkbox"
            checked={reviewed}
            disabled={!writes}
            onChange={(event) => onReview(event.currentTarget.checked)}
          />
          <span>Reviewed</span>
        </label>
        {writes && (
          <Button icon={MessageSquarePlus} look="quiet" onClick={() => draft.begin('file')}>
            Comment
          </Button>
        )}
        {operations
          .filter((operation) => isForFile(operation, file))
          .map((operation) => (
            <OperationButton key={operation.id} channel={channel} operation={operation} target={target} />
          ))}
      </div>
      {unreadable !== undefined && <p class="quiet changed-note">{unreadable}</p>}
      {unreadable === undefined && contents === undefined && (
        <p class="quiet changed-note">Reading the change…</p>
      )}
      {unreadable === undefined && typeof contents === 'string' && (
        <p class="problem changed-note">The change cannot be shown: {contents}</p>
      )}
      {unreadable === undefined && typeof contents === 'object' && (
        <FileDiff
          channel={channel}
          file={file}
          contents={contents}
          operations={operations.filter(
            ({ scopes, status }) => scopes.includes('range') && status !== 'disabled',
          )}
          draft={draft}
        />
      )}
    </div>
  )
}

export function uriOf({ edit, id }: ChangesetFile): string {
  return edit.after?.uri ?? edit.before?.uri ?? id
}

/**
 * Whether a file has a button for an operation. If the host says what an undo or a redo would do with the file, only
 * the one that would change the file has a button. `conflicts.tsx` has the buttons for conflicts.
 */
function isForFile({ id, scopes, status, group }: ChangesetOperation, file: ChangesetFile): boolean {
  const verdict = ownMember(file, 'undo')
  if (!scopes.includes('resource') || status === 'disabled' || group === 'conflict') return false
  return verdict === undefined || verdict === { undo: 'apply', redo: 'done' }[id]
}

function reasonNotToShow(file: ChangesetFile): string | undefined {
  if (ownMember(file, 'binary') === true) return 'This file is not text, so its lines are not shown.'
  const omitted = ownMember(file, 'omitted')
  return typeof omitted === 'string' ? `The content of this file was not recorded. ${omitted}` : undefined
}
