import type { Lens } from '@atrium/protocol/versions/lens'
import type { Generation } from '../kernel/generation.ts'

/** The notifications of 0.1. All of them have the same method, and differ in their `type`. */
const typesOfNested = new Map([
  ['root/sessionAdded', 'notify/sessionAdded'],
  ['root/sessionRemoved', 'notify/sessionRemoved'],
  ['root/sessionSummaryChanged', 'notify/sessionSummaryChanged'],
  ['auth/required', 'notify/authRequired'],
])

/** Makes the JSON of a notification in a protocol version; undefined if the version has no such notification. */
export function notificationText({ nested }: Generation, method: string, params: object): string | undefined {
  const texts = nested ? nestedTexts : plainTexts
  const known = texts.get(params)
  if (known !== undefined) return known
  const message = nested && !method.startsWith('x-') ? nestedMessage(method, params) : { method, params }
  if (!message) return undefined
  const text = JSON.stringify({ jsonrpc: '2.0', ...message })
  texts.set(params, text)
  return text
}

function nestedMessage(method: string, params: object): object | undefined {
  const type = typesOfNested.get(method)
  if (type === undefined) return undefined
  const { channel: _, ...rest }: { channel?: unknown } = { ...params }
  return { method: 'notification', params: { notification: { type, ...rest } } }
}

/** Translates the params of a notification, once for all clients of a version. */
export function sharedNotification(lens: Lens, method: string, params: object): object | undefined {
  const made = translated.get(params) ?? new Map<string, object | undefined>()
  translated.set(params, made)
  if (made.has(lens.version)) return made.get(lens.version)
  const older = lens.notificationDown(method, params)
  made.set(lens.version, older)
  return older
}

const translated = new WeakMap<object, Map<string, object | undefined>>()
const plainTexts = new WeakMap<object, string>()
const nestedTexts = new WeakMap<object, string>()
