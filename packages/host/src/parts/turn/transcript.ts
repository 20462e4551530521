import type { Message } from '@atrium/protocol/chat/message'
import type { ResponsePart, Turn } from '@atrium/protocol/chat/state'
import { textOf } from '@atrium/protocol/common/content'

/**
 * Converts turns to a text for an agent of another chat. If the text is longer than `maxLength` characters, the
 * oldest turns are left out. `more` is true if the chat has turns before the given ones.
 */
export function transcriptOf(turns: readonly Turn[], more: boolean, maxLength: number): string {
  const texts: string[] = []
  let left = maxLength
  for (const turn of turns.toReversed()) {
    const text = turnText(turn)
    if (text.length > left) {
      // At least the end of the newest turn is always shown.
      const rest = texts.length === 0 ? ending(text, left) : ''
      return [leftOut, ...(rest === '' ? [] : [rest]), ...texts.toReversed()].join('\n\n')
    }
    texts.push(text)
    left -= text.length
  }
  return [...(more ? [leftOut] : []), ...texts.toReversed()].join('\n\n')
}

const leftOut = '[Earlier turns are left out.]'

function turnText({ message, responseParts, state }: Turn): string {
  const asked = [message.text, attachedText(message)].filter((text) => text !== '')
  const answered = responseParts.map(partText).filter((text) => text !== '')
  const end = state === 'cancelled' ? ['[This turn was cancelled.]'] : []
  return [`# ${authors.get(message.origin.kind) ?? 'User'}`, ...asked, '# Agent', ...answered, ...end].join(
    '\n\n',
  )
}

const authors: ReadonlyMap<string, string> = new Map([
  ['agent', 'Agent that asked'],
  ['tool', 'Tool'],
  ['automation', 'Automation'],
  ['systemNotification', 'System'],
])

/** Lists attachments by their labels. Attachments of an attached chat are not read (J6). */
function attachedText({ attachments = [] }: Message): string {
  return attachments.length === 0 ? '' : `[Attached: ${attachments.map(({ label }) => label).join(', ')}]`
}

/** The text of a response part. Reasoning is left out, and so are kinds of parts that later protocol versions add. */
function partText(part: ResponsePart): string {
  switch (part.kind) {
    case 'markdown':
      return part.content
    case 'toolCall': {
      const { toolCall: call } = part
      const message = call.status === 'completed' ? call.pastTenseMessage : call.invocationMessage
      const end = call.status === 'completed' ? (call.success ? 'done' : 'failed') : call.status
      return `[${call.displayName}: ${textOf(message)} (${end})]`
    }
    case 'inputRequest':
      return `[Asked: ${part.request.message ?? ''} (${part.response ?? 'open'})]`
    case 'systemNotification':
      return `[${textOf(part.content)}]`
    case 'error':
      return `[Error: ${part.error.message}]`
    default:
      return ''
  }
}

/** The last `length` characters of a text, without half of a surrogate pair. */
function ending(text: string, length: number): string {
  const end = length > 0 ? text.slice(-length) : ''
  return /^[\udc00-\udfff]/.test(end) ? end.slice(1) : end
}
