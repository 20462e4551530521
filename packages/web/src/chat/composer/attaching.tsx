import type { MessageAttachment } from '@atrium/protocol/chat/message'
import { Paperclip, X } from 'lucide'
import { useRef } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'
import { useShown } from '../../ui/shown.ts'
import { useFileDrop } from '../../ui/use-file-drop.ts'
import { AttachmentView } from '../shared/attachment-view.tsx'
import { attachmentsOf } from './attachments.ts'
import type { Draft } from './messages.ts'

interface Attaching {
  readonly attach: (files: readonly File[]) => void
  /** Whether files are dragged over the page now. */
  readonly dragged: boolean
}

/** Attaches files to a message that a person writes, also files that are dropped anywhere on the page. */
export function useAttaching(
  draft: Draft,
  onDraft: (draft: Draft) => void,
  say: (text: string) => void,
): Attaching {
  const now = useRef(draft)
  now.current = draft
  const attach = async (given: readonly File[]) => {
    const { attachments, problems } = await attachmentsOf(given)
    for (const each of problems) say(each)
    // Reading files takes a while, in which a person may have typed on.
    onDraft({ ...now.current, attachments: [...now.current.attachments, ...attachments] })
  }
  const take = (given: readonly File[]) => void attach(given)
  const shown = useShown()
  return { attach: take, dragged: useFileDrop(shown ? take : undefined) }
}

interface AttachedProps {
  readonly draft: Draft
  readonly dragged: boolean
  readonly onDraft: (draft: Draft) => void
}

/** What is attached to a message that is written, and where files can be dropped while some are dragged. */
export function Attached({ draft, dragged, onDraft }: AttachedProps) {
  const without = (gone: MessageAttachment) =>
    onDraft({ ...draft, attachments: draft.attachments.filter((each) => each !== gone) })
  return (
    <>
      {dragged && (
        <p class="drop-target">
          <span>Drop the files to attach them</span>
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
    </>
  )
}

/** The button that lets a person choose files to attach. */
export function AttachButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const files = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={files}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])])
          event.currentTarget.value = ''
        }}
      />
      <Button icon={Paperclip} label="Attach files" look="quiet" onClick={() => files.current?.click()} />
    </>
  )
}
