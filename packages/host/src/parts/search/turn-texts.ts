import type { Message } from '@atrium/protocol/chat/message'
import type { ResponsePart, Turn } from '@atrium/protocol/chat/state'
import { textOf } from '@atrium/protocol/common/content'
import type { Author, IndexedText } from '../../ports/search-index.ts'

/**
 * The texts of a turn that are indexed, each cut to `maxLength` characters: the message, what the agent wrote, and
 * one line for each tool call. Reasoning, the output of tools and the answers to forms are left out: they are long,
 * or may be secret.
 */
export function textsOf(turn: Turn, maxLength: number): readonly IndexedText[] {
  const { message, startedAt = '', duration = 0, responseParts } = turn
  const began = timeOf(startedAt)
  // The duration that a client gives may have a fraction, and an index takes whole milliseconds only.
  const ended = began + Math.trunc(Math.max(0, duration))
  const texts: readonly IndexedText[] = [
    { who: authorOf(message), time: began, text: message.text },
    { who: 'agent', time: ended, text: joined(responseParts.map(answerText)) },
    { who: 'tool', time: ended, text: joined(responseParts.map(callText)) },
  ]
  return texts.flatMap((each) =>
    each.text.trim() === '' ? [] : [{ ...each, text: each.text.slice(0, maxLength) }],
  )
}

/** Parses a time that a client has written. Returns milliseconds since 1970; 0 if the text is not a valid time. */
export function timeOf(text: string): number {
  const time = Date.parse(text)
  return Number.isNaN(time) ? 0 : Math.min(Math.max(0, time), endOfYear9999)
}

const endOfYear9999 = 253_402_300_799_999

function authorOf({ origin }: Message): Author {
  return origin.kind === 'agent' || origin.kind === 'tool' ? 'agent' : 'user'
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

/** Returns what an agent wrote in a response part. Parts of kinds that later protocol versions add have no text. */
function answerText(part: ResponsePart): string {
  switch (part.kind) {
    case 'markdown':
      return part.content
    case 'systemNotification':
      return textOf(part.content)
    case 'inputRequest':
      return part.request.message ?? ''
    case 'error':
      return part.error.message
    default:
      return ''
  }
}

function callText(part: ResponsePart): string {
  if (part.kind !== 'toolCall') return ''
  const { displayName, invocationMessage } = part.toolCall
  return `${displayName}: ${textOf(invocationMessage)}`
}
