import type { Message } from '@atrium/protocol/chat/message'
import type { ResponsePart, Turn } from '@atrium/protocol/chat/state'
import type { StringOrMarkdown } from '@atrium/protocol/common/content'

/**
 * What was said in turns, as a text for an agent of another chat: the newest of it, so many characters at most. `more`: there
 * were others before them.
 */
export function transcriptOf(turns: readonly Turn[], more: boolean, most: number): string {
  const texts: string[] = []
  let left = most
  for (const turn of turns.toReversed()) {
    const text = turnText(turn)
    if (text.length > left) {
      // Of the newest turn there is something, however long it is.
      const rest = texts.length === 0 ? ending(text, left) : ''
      return [leftOut, ...(rest === '' ? [] : [rest]), ...texts.toReversed()].join('\n\n')
    }
    texts.push(text)
    left -= text.length
  }
  return [...(more ? [leftOut] : []), ...texts.toReversed()].join('\n\n')
}

const leftOut = '[What was said before is left out.]'

function turnText({ message, responseParts, state }: Turn): string {
  const asked = [message.text, attachedText(message)].filter((text) => text !== '')
  const said = responseParts.map(partText).filter((text) => text !== '')
  const end = state === 'cancelled' ? ['[This turn was cancelled.]'] : []
  return [`# ${speakers.get(message.origin.kind) ?? 'User'}`, ...asked, '# Agent', ...said, ...end].join(
    '\n\n',
  )
}

const speakers: ReadonlyMap<string, string> = new Map([
  ['agent', 'Agent that asked'],
  ['tool', 'Tool'],
  ['automation', 'Automation'],
  ['systemNotification', 'System'],
])

/** By their names: what is attached to what is attached is not read (J6). */
function attachedText({ attachments = [] }: Message): string {
  return attachments.length === 0 ? '' : `[Attached: ${attachments.map(({ label }) => label).join(', ')}]`
}

/** Thoughts are the agent's own. What a later build says is not known here. */
function partText(part: ResponsePart): string {
  switch (part.kind) {
    case 'markdown':
      return part.content
    case 'toolCall': {
      const { toolCall: call } = part
      const words = call.status === 'completed' ? call.pastTenseMessage : call.invocationMessage
      const end = call.status === 'completed' ? (call.success ? 'done' : 'failed') : call.status
      return `[${call.displayName}: ${wordsOf(words)} (${end})]`
    }
    case 'inputRequest':
      return `[Asked: ${part.request.message ?? ''} (${part.response ?? 'open'})]`
    case 'systemNotification':
      return `[${wordsOf(part.content)}]`
    case 'error':
      return `[Error: ${part.error.message}]`
    default:
      return ''
  }
}

function wordsOf(words: StringOrMarkdown | undefined): string {
  return typeof words === 'object' ? words.markdown : (words ?? '')
}

/** The end of a text; no half of a letter. */
function ending(text: string, most: number): string {
  const end = most > 0 ? text.slice(-most) : ''
  return /^[\udc00-\udfff]/.test(end) ? end.slice(1) : end
}
