import type { ResponsePart } from '@atrium/protocol/chat/state'
import { CircleAlert } from 'lucide'
import { memo } from 'preact/compat'
import { Markdown } from '../markdown/markdown.tsx'
import { Icon } from '../ui/icon.tsx'
import { FormView } from './form/form-view.tsx'
import { Reasoning } from './reasoning.tsx'
import { MessageText } from './shared/message-text.tsx'
import { visibleText } from './shared/text.ts'
import { ContentCard } from './tools/content-card.tsx'
import { ToolCard } from './tools/tool-card.tsx'

interface Props {
  readonly turnId: string
  readonly part: ResponsePart
  /** Whether the part still grows. */
  readonly streaming: boolean
  /** Given to the last part. It is told whether some of the text of the part is not drawn yet. */
  readonly onBehind?: (behind: boolean) => void
  /** Whether a tool card is opened at first. */
  readonly opened: boolean
}

/** A part of an answer. It is drawn again only if it has changed. */
export const PartView = memo(function PartView({ turnId, part, streaming, onBehind, opened }: Props) {
  switch (part.kind) {
    case 'markdown':
      return <Markdown text={part.content} streaming={streaming} onBehind={onBehind} />
    case 'reasoning':
      return <Reasoning text={part.content} streaming={streaming} />
    case 'toolCall':
      return <ToolCard turnId={turnId} call={part.toolCall} opened={opened} />
    case 'inputRequest':
      return <FormView part={part} />
    case 'systemNotification':
      return (
        <p class="notification">
          <MessageText text={part.content} />
        </p>
      )
    case 'contentRef':
      return <ContentCard content={part} />
    case 'error':
      return (
        <div class="turn-error" role="alert">
          <Icon of={CircleAlert} />
          <span>
            {visibleText(
              part.error.message === '' ? `The turn failed (${part.error.errorType}).` : part.error.message,
            )}
          </span>
        </div>
      )
    default:
      return <p class="quiet">A part of a kind that this page does not know.</p>
  }
})
