import type { Uri } from '@atrium/protocol/channel'
import { Channel } from './channel.ts'
import type { DamagedChannel, LoadedChannel, LogStore } from '../ports/log.ts'
import { leastTail, rebuild } from './rebuild.ts'

/** What brings a channel back into memory, once it is read. Nothing where there is none. */
export async function loadChannel(
  store: LogStore,
  uri: Uri,
  tail: number,
): Promise<((told: number) => Channel) | undefined> {
  const found = await store.load(uri, tail)
  if (!found) return undefined
  const least = leastTail(found)
  // After a crash, when many rows came since the head.
  return least > tail ? loadChannel(store, uri, least) : (told) => channelFrom(uri, found, told)
}

/** A channel as it comes back into memory: everyone has been told all that is stored of it. */
function channelFrom(uri: Uri, found: LoadedChannel | DamagedChannel, told: number): Channel {
  const { kind, state, older, newer } = rebuild(uri, found)
  const channel = new Channel(uri, kind, state, told, older)
  channel.committed = state
  channel.sinceHead = 'damaged' in found ? 0 : found.envelopes.length
  channel.rowsSinceHead = newer
  return channel
}
