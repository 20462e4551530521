import type { ChangesetFile, ChangesetOperation } from '@atrium/protocol/changeset/state'
import { useMemo, useState } from 'preact/hooks'
import { useMay } from '../../link/role.ts'
import { DiffLine, GapLine } from '../../ui/diff/diff-line.tsx'
import { diffRows, diffText } from '../../ui/diff/diff-rows.ts'
import type { DiffRow } from '../../ui/diff/diff-rows.ts'
import type { LineRange } from '../../ui/diff/line-changes.ts'
import { useLineColours } from '../../ui/highlight/line-colours.ts'
import { VirtualBlocks } from '../../ui/virtual-blocks.tsx'
import type { FileContents } from '../shared/file-contents.ts'
import { CommentForm } from './comment-form.tsx'
import { CommentThread } from './comment-thread.tsx'
import { placeComments } from './comments.ts'
import { useChanges } from './context.ts'
import { HunkHead } from './hunk-head.tsx'
import { hunksOf, withHunks } from './hunks.ts'
import type { NewCommentState } from './new-comment.ts'

interface Props {
  readonly channel: string
  readonly file: ChangesetFile
  readonly contents: FileContents
  /** The operations for lines of the file. */
  readonly operations: readonly ChangesetOperation[]
  readonly draft: NewCommentState
}

/** The usual height of a line, in pixels. */
const lineHeight = 20

/** The diff of a changed file: its hunks, each with a mark for reviewers, and the comments at their lines. */
export function FileDiff({ channel, file, contents, operations, draft }: Props) {
  const { split, comments } = useChanges()
  const [opened, setOpened] = useState<readonly LineRange[]>([])
  const { before, after } = contents
  const resource = file.edit.after?.uri ?? file.edit.before?.uri ?? ''
  const colours = { before: useLineColours(resource, before), after: useLineColours(resource, after) }
  const text = useMemo(() => diffText(before, after), [before, after])
  const hunks = useMemo(() => hunksOf(file), [file])
  const marked = useMemo(() => withHunks(text, hunks), [text, hunks])
  const { atLine, others } = useMemo(
    () => placeComments(comments.all, resource, text.after),
    [comments.all, resource, text],
  )
  const drafted = typeof draft.place === 'object' ? draft.place.last : undefined
  const rows = useMemo(() => {
    const isOpened = (line: number) => opened.some(({ from, count }) => line >= from && line < from + count)
    const isShown = (line: number) => line === drafted || atLine.has(line) || isOpened(line)
    return diffRows(marked, { split, heads: true, isShown })
  }, [marked, split, atLine, drafted, opened])
  const comment = useMay('prompt') ? draft.begin : undefined
  const lineRow = (row: DiffRow & { readonly kind: 'line' }, key: number) => {
    const line = row.after?.line ?? -1
    return (
      <div key={key}>
        <DiffLine
          row={row}
          colours={colours}
          split={split}
          onLine={comment && ((at) => comment({ first: at, last: at }))}
        />
        {atLine.get(line)?.map((each) => (
          <CommentThread key={each.id} comment={each} inPlace />
        ))}
        {line === drafted && <Draft draft={draft} />}
      </div>
    )
  }
  const render = (at: number) => {
    const row = rows[at]
    if (row?.kind === 'line') return lineRow(row, at)
    if (row?.kind === 'gap') return <GapLine key={at} row={row} onOpen={() => setOpened([...opened, row])} />
    const change = row && marked.changes[row.at]
    if (!change) return null
    const place = { channel, file, change, mark: hunks.find((hunk) => hunk === change)?.reviewed }
    return <HunkHead key={at} {...place} operations={operations} onComment={comment} />
  }
  return (
    <>
      {others.map((each) => (
        <CommentThread key={each.id} comment={each} />
      ))}
      {draft.place === 'file' && <Draft draft={draft} />}
      <div class="diff whole" role="group" aria-label="Difference">
        <VirtualBlocks count={rows.length} rowHeight={lineHeight} render={render} />
      </div>
    </>
  )
}

function Draft({ draft: { place, text, change, cancel, save } }: Pick<Props, 'draft'>) {
  const lines = typeof place === 'object' ? place : undefined
  const label =
    lines === undefined
      ? 'Comment on the file'
      : lines.first === lines.last
        ? `Comment on line ${lines.last + 1}`
        : `Comment on lines ${lines.first + 1} to ${lines.last + 1}`
  return (
    <div class="thread">
      <CommentForm label={label} text={text} onText={change} onSend={save} onCancel={cancel} />
    </div>
  )
}
