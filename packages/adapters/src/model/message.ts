import { TurnFailed } from '@atrium/host/ports/agent'
import type { Message, MessageAttachment } from '@atrium/protocol/chat/message'
import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3TextPart,
} from '@ai-sdk/provider'
import { imageTypes } from './offered/result-content.ts'
import { truncateMiddle, wellFormed } from './text.ts'
import type { PartOptions } from './parts.ts'

type Part = LanguageModelV3TextPart | LanguageModelV3FilePart

/** Converts a user's message and its attachments. An attachment that cannot be sent is replaced by a note. */
export async function userMessage(
  { text, attachments = [] }: Message,
  options: PartOptions,
): Promise<LanguageModelV3Message> {
  const attached: Part[] = []
  for (const attachment of attachments) attached.push(await attachmentPart(attachment, options))
  // Providers reject a message with an empty text.
  const body = text.trim() === '' ? '(no text)' : truncateMiddle(wellFormed(text), options.maxLength)
  return { role: 'user', content: [...attached, { type: 'text', text: body }] }
}

async function attachmentPart(attachment: MessageAttachment, options: PartOptions): Promise<Part> {
  const label = JSON.stringify(wellFormed(attachment.label.slice(0, 200)))
  const placeholder = (why: string): Part => ({ type: 'text', text: `[attached: ${label}, ${why}]` })
  try {
    const { data, encoding, contentType = '' } = await options.chat.read(attachment)
    const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
    if (encoding === 'utf-8') {
      const body = truncateMiddle(wellFormed(data), options.maxLength)
      return {
        type: 'text',
        text: `<attachment name=${label}${selectionAttribute(attachment)}>\n${body}\n</attachment>`,
      }
    }
    if (!imageTypes.has(mediaType)) return placeholder('which is neither text nor an image')
    if (!options.vision) return placeholder('an image, which this model cannot see')
    return { type: 'file', data, mediaType }
  } catch (error) {
    // The file of an attachment may have been deleted since the message was sent.
    if (error instanceof TurnFailed) return placeholder(`which cannot be read: ${error.message}`)
    throw error
  }
}

function selectionAttribute(attachment: MessageAttachment): string {
  const range = 'selection' in attachment ? attachment.selection?.range : undefined
  return range ? ` selected="lines ${range.start.line + 1} to ${range.end.line + 1}"` : ''
}
