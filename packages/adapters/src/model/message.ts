import { TurnFailed } from '@atrium/host/ports/agent'
import type { Message, MessageAttachment } from '@atrium/protocol/chat/message'
import type {
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3TextPart,
} from '@ai-sdk/provider'
import { clipped, sayable } from './text.ts'
import type { Reading } from './parts.ts'

type Part = LanguageModelV3TextPart | LanguageModelV3FilePart

/** What somebody wrote, with what is attached to it. */
export async function userMessage(
  { text, attachments = [] }: Message,
  reading: Reading,
): Promise<LanguageModelV3Message> {
  const attached: Part[] = []
  for (const attachment of attachments) attached.push(await attachedPart(attachment, reading))
  // No vendor takes an empty text.
  const written = text.trim() === '' ? '(no text)' : clipped(sayable(text), reading.most)
  return { role: 'user', content: [...attached, { type: 'text', text: written }] }
}

async function attachedPart(attachment: MessageAttachment, reading: Reading): Promise<Part> {
  const label = JSON.stringify(sayable(attachment.label.slice(0, 200)))
  const note = (why: string): Part => ({ type: 'text', text: `[attached: ${label}, ${why}]` })
  try {
    const { data, encoding, contentType = '' } = await reading.chat.read(attachment)
    const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
    if (encoding === 'utf-8') {
      const body = clipped(sayable(data), reading.most)
      return {
        type: 'text',
        text: `<attachment name=${label}${selected(attachment)}>\n${body}\n</attachment>`,
      }
    }
    if (!images.has(mediaType)) return note('which is no text and no image')
    if (!reading.vision) return note('an image, which this model cannot see')
    return { type: 'file', data, mediaType }
  } catch (error) {
    // It was there when the message was sent, and need not be any more.
    if (error instanceof TurnFailed) return note(`which cannot be read: ${error.message}`)
    throw error
  }
}

const images = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

function selected(attachment: MessageAttachment): string {
  const range = 'selection' in attachment ? attachment.selection?.range : undefined
  return range ? ` selected="lines ${range.start.line + 1} to ${range.end.line + 1}"` : ''
}
