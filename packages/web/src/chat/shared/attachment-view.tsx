import type { MessageAttachment } from '@atrium/protocol/chat/message'
import { Paperclip } from 'lucide'
import { Picture } from '../../ui/picture.tsx'
import { Icon } from '../../ui/icon.tsx'
import { visibleText } from './text.ts'

/** An attachment of a message: a picture is shown, anything else is named. */
export function AttachmentView({ attachment }: { readonly attachment: MessageAttachment }) {
  if (attachment.type === 'embeddedResource' && /^image\/(?:png|jpeg|gif|webp)$/.test(attachment.contentType))
    return (
      <Picture
        class="attached-image"
        src={`data:${attachment.contentType};base64,${attachment.data}`}
        alt={visibleText(attachment.label)}
      />
    )
  return (
    <span class="attached">
      <Icon of={Paperclip} size={13} /> {visibleText(attachment.label)}
    </span>
  )
}
