import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { guarded } from './wrong-log.ts'
import type { WrongLog } from './wrong-log.ts'

/** Knows one file. */
export function complete(host: WrongLog, chat: Uri, text: string, offset: number): object {
  if (host.channels.get(chat)?.kind !== 'chat' && !host.has('completedAnywhere'))
    throw AhpError.notFound(chat)
  const rangeStart = text.lastIndexOf('@', offset)
  if (rangeStart < 0) return { items: [] }
  const rangeEnd = host.has('rangesInBytes') ? Buffer.byteLength(text.slice(0, offset)) : offset
  const attachment = { type: 'resource', uri: 'file:///a.txt', label: 'a.txt' }
  const item = { insertText: '@a.txt', rangeStart, rangeEnd, attachment }
  return { items: [host.has('completionsBare') ? { insertText: '@a.txt' } : item] }
}

export function authenticate(host: WrongLog, resource: string): object {
  const known = guarded.protectedResources.some((each) => each.resource === resource)
  if (!known && !host.has('anyResource')) throw AhpError.invalidParams('nobody asks for that')
  return {}
}

export function needsLogin(host: WrongLog): AhpError {
  if (host.has('authMiscoded')) return AhpError.permissionDenied('sign in first')
  const resources = host.has('resourcesMissing') ? [] : guarded.protectedResources
  return AhpError.authRequired('sign in first', resources)
}
