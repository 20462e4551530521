import type { Message } from '@atrium/protocol/chat/message'
import { Clock, Copy, GitFork, Pencil } from 'lucide'
import { memo } from 'preact/compat'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { AttachmentView } from './shared/attachment-view.tsx'

interface Props {
  readonly message: Message
  /** Why the message is not with the host yet. Undefined: the host has it. */
  readonly waiting: string | undefined
  readonly turnId: string
  readonly onFork?: ((turnId: string) => void) | undefined
  readonly onEdit?: ((turnId: string, text: string) => void) | undefined
}

/** A message of a person, as it was written. */
export const MessageView = memo(function MessageView({ message, waiting, turnId, onFork, onEdit }: Props) {
  const { text, attachments = [], origin } = message
  const items = [
    { label: 'Copy', icon: Copy, onPick: () => void navigator.clipboard.writeText(text) },
    ...(onFork ? [{ label: 'Fork from here', icon: GitFork, onPick: () => onFork(turnId) }] : []),
    ...(onEdit ? [{ label: 'Edit and send again', icon: Pencil, onPick: () => onEdit(turnId, text) }] : []),
  ]
  return (
    <div class={`message${waiting === undefined ? '' : ' waiting'}`}>
      <div class="bubble">
        {origin.kind !== 'user' && <span class="tag">{origin.kind}</span>}
        {/* A long message scrolls, and those who use a keyboard must be able to reach it. */}
        <span class="message-text" {...(isLong(text) && { tabIndex: 0 })}>
          {text}
        </span>
        {attachments.length > 0 && (
          <span class="attachments">
            {attachments.map((attachment, at) => (
              <AttachmentView key={at} attachment={attachment} />
            ))}
          </span>
        )}
        {waiting !== undefined && (
          <span class="message-waiting">
            <Icon of={Clock} size={13} /> {waiting}
          </span>
        )}
      </div>
      <Menu label="Actions for this message" items={items} />
    </div>
  )
})

/** Whether a message may be higher than its box, on a narrow screen. */
function isLong(text: string): boolean {
  return text.length > 500 || text.split('\n', 17).length > 16
}
