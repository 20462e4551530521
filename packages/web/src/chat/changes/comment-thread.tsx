import type { Annotation, AnnotationEntry } from '@atrium/protocol/annotations/state'
import { useState } from 'preact/hooks'
import { useMay } from '../../link/role.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import { Button } from '../../ui/button.tsx'
import { ownMember, textMember } from '../shared/member.ts'
import { plainText, visibleText } from '../shared/text.ts'
import { CommentForm } from './comment-form.tsx'
import { isOutdated, lineOf } from './comments.ts'
import { useChanges } from './context.ts'

interface Props {
  readonly comment: Annotation
  /** Whether the comment stands at its line. Otherwise it says which line it is about. */
  readonly inPlace?: boolean
}

/** A comment with its answers. One that is resolved shows its first words until somebody opens it. */
export function CommentThread({ comment, inPlace = false }: Props) {
  const { comments } = useChanges()
  const [answer, setAnswer] = useState<string>()
  const { id, resolved, entries } = comment
  const first = visibleText(plainText(entries[0]?.text)).slice(0, 80)
  const writes = useMay('prompt')
  const actions = writes && (
    <div class="thread-actions">
      {answer === undefined && <Button onClick={() => setAnswer('')}>Reply</Button>}
      <Button look="quiet" onClick={() => void comments.resolve(id, !resolved)}>
        {resolved ? 'Reopen' : 'Resolve'}
      </Button>
      <Button look="quiet" onClick={() => void comments.remove(id)}>
        Remove
      </Button>
    </div>
  )
  const body = (
    <>
      {entries.map((entry) => (
        <Entry key={entry.id} entry={entry} />
      ))}
      {answer !== undefined && (
        <CommentForm
          label="Answer"
          text={answer}
          onText={setAnswer}
          onSend={() => void comments.reply(id, answer).then((accepted) => accepted && setAnswer(undefined))}
          onCancel={() => setAnswer(undefined)}
        />
      )}
      {actions}
    </>
  )
  return (
    <section class={`thread${resolved ? ' resolved' : ''}`} aria-label={`Comment: ${first}`}>
      {!inPlace && <Where comment={comment} />}
      {resolved ? (
        <details>
          <summary>
            <span class="tag">resolved</span> {first}
          </summary>
          {body}
        </details>
      ) : (
        body
      )}
    </section>
  )
}

function Where({ comment }: Pick<Props, 'comment'>) {
  const line = lineOf(comment)
  if (isOutdated(comment)) return <p class="quiet">The text that this is about is no longer in the file.</p>
  return line === undefined ? null : <p class="quiet thread-line">Line {line + 1} of the file</p>
}

function Entry({ entry }: { readonly entry: AnnotationEntry }) {
  const author = ownMember(entry, 'author')
  const name = textMember(author, 'name') ?? textMember(author, 'provider')
  const device = textMember(author, 'device')
  return (
    <article class="comment">
      {name !== undefined && (
        <p class="comment-author">
          {visibleText(name)}
          {device !== undefined && device !== name && ` (${visibleText(device)})`}
        </p>
      )}
      {typeof entry.text === 'string' ? (
        <p class="comment-text">{visibleText(entry.text)}</p>
      ) : (
        <Markdown text={entry.text.markdown} />
      )}
    </article>
  )
}
