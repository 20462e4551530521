import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'
import { GrowingText } from '../../ui/growing-text.tsx'

interface Props {
  /** The label of the field, which says what is written: a comment on a line, or an answer. */
  readonly label: string
  readonly text: string
  readonly onText: (text: string) => void
  readonly onSend: () => void
  readonly onCancel: () => void
}

/** The field in which a comment is written. The component that uses the field keeps the text. */
export function CommentForm({ label, text, onText, onSend, onCancel }: Props) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus(), [])
  const empty = text.trim() === ''
  return (
    <form
      class="comment-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!empty) onSend()
      }}
    >
      <GrowingText
        ref={field}
        value={text}
        label={label}
        placeholder={label}
        rows={2}
        onInput={onText}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel()
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          if (!empty) onSend()
        }}
      />
      <div class="thread-actions">
        <Button submit look="primary" disabled={empty}>
          Save
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
