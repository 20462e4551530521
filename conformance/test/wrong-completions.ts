import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { WrongLog } from './wrong-log.ts'

/** Offers one file as the completion of `@`. */
export function complete(host: WrongLog, chat: Uri, text: string, offset: number): object {
  if (host.channels.get(chat)?.kind !== 'chat' && !host.has('completionsInUnknownChat'))
    throw AhpError.notFound(chat)
  const rangeStart = text.lastIndexOf('@', offset)
  if (rangeStart < 0) return { items: [] }
  const rangeEnd = host.has('rangesInBytes') ? Buffer.byteLength(text.slice(0, offset)) : offset
  const attachment = { type: 'resource', uri: 'file:///a.txt', label: 'a.txt' }
  const item = { insertText: '@a.txt', rangeStart, rangeEnd, attachment }
  return { items: [host.has('completionsWithoutFields') ? { insertText: '@a.txt' } : item] }
}
