import type { Uri } from '@atrium/protocol/channel'
import type { StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import { Channel } from './channel.ts'
import type { DamagedChannel, LoadedChannel, LogStore } from '../ports/log.ts'
import { leastTail, rebuild } from './rebuild.ts'

/** What brings a channel back into memory, once it is read. Nothing where there is none. */
export async function loadChannel(
  store: LogStore,
  uri: Uri,
  tail: number,
): Promise<((committedSeq: number) => Channel) | undefined> {
  const found = await store.load(uri, tail)
  if (!found) return undefined
  const least = leastTail(found)
  // After a crash, when many rows came since the head.
  return least > tail
    ? loadChannel(store, uri, least)
    : (committedSeq) => channelFrom(uri, found, committedSeq)
}

/** A channel as it comes back into memory: everyone has been told all that is stored of it. */
function channelFrom(uri: Uri, found: LoadedChannel | DamagedChannel, committedSeq: number): Channel {
  const { kind, state, older, newer } = rebuild(uri, found)
  const channel = new Channel(uri, kind, state as StateOf<KindName>, committedSeq, older)
  channel.committed = channel.head
  channel.sinceHead = 'damaged' in found ? 0 : found.envelopes.length
  channel.rowsSinceHead = newer
  return channel
}
