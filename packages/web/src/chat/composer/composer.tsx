import { SendHorizontal, Square, X } from 'lucide'
import { memo } from 'preact/compat'
import { Button } from '../../ui/button.tsx'
import { useChat } from '../shared/context.ts'
import { AttachButton, Attached, useAttaching } from './attaching.tsx'
import { MessageField } from './message-field.tsx'
import type { Delivery, Draft } from './messages.ts'

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
  const empty = draft.text.trim() === '' && draft.attachments.length === 0
  const first: Delivery = active ? 'queue' : 'turn'
  const { attach, dragged } = useAttaching(draft, onDraft, say)
  const submit = (delivery: Delivery) => {
    if (!empty) onSend(delivery)
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        submit(first)
      }}
    >
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <Attached draft={draft} dragged={dragged} onDraft={onDraft} />
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
        onFiles={attach}
      />
      <div class="composer-row">
        <AttachButton onFiles={attach} />
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
