import type { MessageAttachment } from '@atrium/protocol/chat/message'
import { Paperclip, SendHorizontal, Square, X } from 'lucide'
import { memo } from 'preact/compat'
import { useRef } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'
import { useFileDrop } from '../../ui/use-file-drop.ts'
import { useShown } from '../../ui/shown.ts'
import { attachmentsOf } from './attachments.ts'
import { useChat } from '../shared/context.ts'
import { MessageField } from './message-field.tsx'
import type { Delivery, Draft } from './messages.ts'
import { AttachmentView } from '../shared/attachment-view.tsx'

interface Props {
  /** Whether a turn is active. */
  readonly active: boolean
  /** Whether the agent takes messages into the active turn. */
  readonly steers: boolean
  readonly draft: Draft
  /** The name of the model that was chosen for the next message. Undefined: that of the session. */
  readonly model: string | undefined
  /** A sentence that says why the last message was not sent. */
  readonly problem: string | undefined
  readonly onDraft: (draft: Draft) => void
  readonly onSend: (delivery: Delivery) => void
  readonly onStop: () => void
}

/**
 * The field for the next message. While a turn is active, the message waits for the end of the turn, or is given to
 * the agent during the turn. It is not drawn again for each word that the agent writes.
 */
export const Composer = memo(function Composer({
  active,
  steers,
  draft,
  model,
  problem,
  onDraft,
  onSend,
  onStop,
}: Props) {
  const { say } = useChat()
  const files = useRef<HTMLInputElement>(null)
  const empty = draft.text.trim() === '' && draft.attachments.length === 0
  const first: Delivery = active ? 'queue' : 'turn'
  const now = useRef(draft)
  now.current = draft
  const attach = async (given: readonly File[]) => {
    const { attachments, problems } = await attachmentsOf(given)
    for (const each of problems) say(each)
    // Reading files takes a while, in which a person may have typed on.
    onDraft({ ...now.current, attachments: [...now.current.attachments, ...attachments] })
  }
  const shown = useShown()
  const dragged = useFileDrop(shown ? (given) => void attach(given) : undefined)
  const submit = (delivery: Delivery) => {
    if (!empty) onSend(delivery)
  }
  const without = (gone: MessageAttachment) =>
    onDraft({ ...draft, attachments: draft.attachments.filter((each) => each !== gone) })
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        submit(first)
      }}
    >
      {dragged && (
        <p class="drop-target">
          <span>Drop the files to attach them</span>
        </p>
      )}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {draft.attachments.length > 0 && (
        <div class="attachments">
          {draft.attachments.map((attachment, at) => (
            <span key={at} class="attachment-edit">
              <AttachmentView attachment={attachment} />
              <Button
                icon={X}
                label={`Remove ${attachment.label}`}
                look="quiet"
                onClick={() => without(attachment)}
              />
            </span>
          ))}
        </div>
      )}
      {model !== undefined && (
        <span class="attachment-edit">
          <span class="tag">{model}</span>
          <Button
            icon={X}
            label={`Not with ${model}`}
            look="quiet"
            onClick={() => onDraft({ text: draft.text, attachments: draft.attachments })}
          />
        </span>
      )}
      <MessageField
        draft={draft}
        placeholder={active ? 'Write the next message' : 'Write a message'}
        onDraft={onDraft}
        onEnter={(steer) => submit(active && steer ? 'steer' : first)}
        onFiles={(given) => void attach(given)}
      />
      <div class="composer-row">
        <input
          ref={files}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          onChange={(event) => {
            void attach([...(event.currentTarget.files ?? [])])
            event.currentTarget.value = ''
          }}
        />
        <Button icon={Paperclip} label="Attach files" look="quiet" onClick={() => files.current?.click()} />
        <span class="composer-hint">
          {!active
            ? 'Enter: send · Shift+Enter: new line'
            : steers
              ? 'Enter: queue · Ctrl+Enter: into this turn'
              : 'Enter: queue, for after this turn'}
        </span>
        {active && (
          <Button icon={Square} label="Stop" onClick={onStop}>
            <span class="wide-only">Stop</span>
          </Button>
        )}
        {active && steers && (
          <Button disabled={empty} onClick={() => submit('steer')}>
            Into this turn
          </Button>
        )}
        <Button submit look="primary" icon={SendHorizontal} disabled={empty}>
          {active ? 'Queue' : 'Send'}
        </Button>
      </div>
    </form>
  )
})
