import { strideOf } from '@atrium/protocol/kind'
import { ContextMissing } from '@atrium/protocol/versions/lens'
import type { Core } from '../kernel/core.ts'
import type { Channel } from '../kernel/log/channel.ts'
import type { StoredEnvelope } from '../ports/log.ts'
import type { OpeningLink } from './opening.ts'
import { storedAction } from '../kernel/log/entry.ts'

/**
 * Whether a client may have seen only a part of a change. For older versions one change can be several actions, and the
 * connection may have ended between them. A replay cannot begin in the middle of a change, so the client must get snapshots
 * instead. No two changes share a sequence number. So only the last change that begins at or before `lastSeen` can end after it.
 */
export async function sawPart(
  core: Core,
  { dialect, clientId }: OpeningLink,
  channels: readonly Channel[],
  lastSeen: number,
): Promise<boolean> {
  const byUri = new Map(channels.map((channel) => [channel.uri, channel]))
  const last = await lastEnvelope(core, byUri, lastSeen)
  const channel = last && byUri.get(last.channel)
  if (!channel) return false
  const { seq, action: text, origin } = last
  if (!mayBePart(channel, text, lastSeen - seq)) return false
  try {
    const texts = dialect.envelopes(channel, { seq, text, origin }, origin?.clientId === clientId)
    return texts === undefined || seq + texts.length - 1 > lastSeen
  } catch (error) {
    if (error instanceof ContextMissing) return true
    throw error
  }
}

/**
 * Returns the last action of these channels that begins at or before a sequence number. Undefined if it begins so
 * early that it cannot end after that number.
 */
async function lastEnvelope(
  core: Core,
  channels: ReadonlyMap<string, Channel>,
  upTo: number,
): Promise<StoredEnvelope | undefined> {
  const oldest = upTo - longestStride(core)
  const recent = core.log.recentSince(oldest)
  if (recent) return recent.findLast(({ seq, channel }) => seq <= upTo && channels.has(channel))
  // Usually an action of these channels has this number or one just below it. So a short range is read first.
  const near = Math.max(oldest, upTo - 8)
  return (
    (await lastStored(core, [...channels.keys()], near, upTo)) ??
    lastStored(core, [...channels.keys()], oldest, near)
  )
}

async function lastStored(core: Core, uris: readonly string[], after: number, upTo: number) {
  let last: StoredEnvelope | undefined
  for (let from = after; ; from = last?.seq ?? upTo) {
    const { envelopes, more } = await core.store.log.read(uris, from, upTo)
    last = envelopes.at(-1) ?? last
    if (!more) return last
  }
}

/**
 * The largest number of sequence numbers that one action takes. It is that of a whole changeset, because older versions have
 * one action for each file.
 */
function longestStride({ limits }: Core): number {
  return limits.changesetFiles + 4
}

/**
 * Whether an action may take more sequence numbers than the client has seen. The client has seen the first number of
 * the action, and `seen` further ones.
 */
function mayBePart({ kind }: Channel, text: string, seen: number): boolean {
  // Few types take several numbers. A text that names none of them need not be parsed.
  if (![...kind.strides.keys()].some((type) => text.includes(type))) return false
  const action = storedAction(text)
  // How many numbers an action on a session takes may depend on the state after it, which is not stored. To be safe,
  // the answer is then yes.
  if (typeof kind.strides.get(action.type) === 'function' && kind.name !== 'changeset') return true
  return seen < strideOf(kind, {}, action) - 1
}
