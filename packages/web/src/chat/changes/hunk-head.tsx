import type { ChangesetFile, ChangesetOperation } from '@atrium/protocol/changeset/state'
import { MessageSquarePlus } from 'lucide'
import { offers } from '../../link/extension.ts'
import { failedRequest, failureWords } from '../../link/outcome-words.ts'
import { Button } from '../../ui/button.tsx'
import type { LineChange, LineRange } from '../../ui/diff/line-changes.ts'
import { useChanges } from './context.ts'
import { markHunk } from './hunks.ts'
import type { CommentPlace } from './new-comment.ts'
import { OperationButton } from './operation-button.tsx'
import type { OperationTarget } from './operation-button.tsx'

interface Props {
  readonly channel: string
  readonly file: ChangesetFile
  readonly change: LineChange
  /** Whether somebody has reviewed the change. Undefined: the host has listed no hunks yet. */
  readonly mark: boolean | undefined
  readonly operations: readonly ChangesetOperation[]
  readonly onComment: ((place: CommentPlace) => void) | undefined
}

/** The buttons for one changed part of a file: mark it as reviewed, comment on it, take it back. */
export function HunkHead({
  channel,
  file,
  change,
  mark = file.reviewed ?? false,
  operations,
  onComment,
}: Props) {
  const { client, say } = useChanges()
  const { before, after } = change
  const words = after.count > 0 ? linesIn(after) : `removed ${linesIn(before)}`
  const review = (reviewed: boolean) =>
    markHunk(client, { channel, file: file.id }, change, reviewed).catch((error: unknown) =>
      say(failureWords(failedRequest(error), 'The part was not marked', 'the part was marked')),
    )
  return (
    <div class={`hunk-head${mark ? ' reviewed' : ''}`}>
      <span class="hunk-lines">{words}</span>
      {offers(client, 'x-atrium/reviewHunks') && (
        <label class="check">
          <input
            type="checkbox"
            checked={mark}
            aria-label={`Reviewed: ${words}`}
            onChange={(event) => void review(event.currentTarget.checked)}
          />
          <span aria-hidden="true">Reviewed</span>
        </label>
      )}
      {onComment && after.count > 0 && (
        <Button
          icon={MessageSquarePlus}
          label={`Comment on ${words}`}
          look="quiet"
          onClick={() => onComment({ first: after.from, last: after.from + after.count - 1 })}
        />
      )}
      {operations.map((operation) => (
        <OperationButton
          key={operation.id}
          channel={channel}
          operation={operation}
          target={targetOf(file, change)}
          about={words}
        />
      ))}
    </div>
  )
}

function linesIn({ from, count }: LineRange): string {
  return count === 1 ? `line ${from + 1}` : `lines ${from + 1} to ${from + count}`
}

/**
 * The target of an operation on a change: its lines on the later side, or on the earlier side if the change only
 * deletes lines.
 */
function targetOf({ edit, id }: ChangesetFile, { before, after }: LineChange): OperationTarget {
  const side = after.count > 0 ? 'after' : 'before'
  const { from, count } = side === 'after' ? after : before
  const range = { start: { line: from, character: 0 }, end: { line: from + count, character: 0 } }
  return { kind: 'range', resource: edit[side]?.uri ?? id, side, range }
}
