import type { Uri } from '@atrium/protocol/channel'
import { toBase64 } from '@atrium/protocol/text/base64'
import { sessionOfAnnotations, sessionOfDefaultChat } from '@atrium/protocol/uri'
import type { Core } from '../kernel/core.ts'

/**
 * Returns whether a URI named a channel that was removed. Such a URI must never name another channel, so its record
 * is kept for ever, with a short key. The default chat and the annotations of a session have no record of their own:
 * they end with their session, and the record of the session counts for them.
 */
export async function isGone({ records }: Core, uri: Uri): Promise<boolean> {
  const session = sessionOfDefaultChat(uri) ?? sessionOfAnnotations(uri)
  const uris = session === undefined ? [uri] : [uri, session]
  // Earlier builds stored the URI as it is.
  const keys = new Set(uris.flatMap((each) => [shortKey(each), fullKey(each)]))
  const found = await Promise.all([...keys].map((key) => records.get(key)))
  return found.some((record) => record !== undefined)
}

/**
 * Records that a URI must never name another channel, in the transaction that removes its channel. `unused`: the
 * channel was a session that nobody has used.
 */
export function setGone({ records }: Core, uri: Uri, unused = false): void {
  records.put(shortKey(uri), unused ? unusedText : '')
}

/** Whether a URI named a session that was disposed of before anybody used it. */
export async function wasUnused({ records }: Core, uri: Uri): Promise<boolean> {
  return (await records.get(shortKey(uri))) === unusedText
}

/**
 * Gives the records of earlier builds short keys, and deletes those of default chats whose sessions have a record.
 * Returns how many records were changed or deleted.
 */
export async function shortenGone({ records }: Core): Promise<number> {
  const found = (await records.list(prefix)).map(([key]) => key.slice(prefix.length))
  const all = new Set(found)
  let count = 0
  for (const uri of found) {
    const session = sessionOfDefaultChat(uri)
    const implied = session !== undefined && (all.has(session) || all.has(short(session)))
    if (!implied && short(uri) === uri) continue
    records.delete(fullKey(uri))
    if (!implied) records.put(shortKey(uri), '')
    count++
  }
  return count
}

const prefix = 'gone/'
const unusedText = 'unused'
const fullKey = (uri: Uri) => `${prefix}${uri}`
const shortKey = (uri: Uri) => `${prefix}${short(uri)}`

/**
 * Shortens a URI by a third if it consists of a scheme and a UUID, as most URIs of channels do. Two URIs never get the same
 * short form: the UUID is kept as its 16 bytes in base64, and only a short form has no colon.
 */
function short(uri: Uri): string {
  const [, scheme, uuid] = usualForm.exec(uri) ?? []
  if (scheme === undefined || uuid === undefined) return uri
  const digits = uuid.replaceAll('-', '')
  const bytes = Uint8Array.from({ length: 16 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16))
  return `${scheme}~${toBase64(bytes).replace(/=+$/, '')}`
}

const usualForm = /^([a-z][a-z0-9.+-]*):\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/
