import type { Uri } from '@atrium/protocol/channel'
import type { StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import { Channel } from './channel.ts'
import type { DamagedChannel, LoadedChannel, LogStore } from '../../ports/log.ts'
import { leastTail, rebuild } from './rebuild.ts'

/**
 * Reads a channel with at least `tail` of its newest rows. Returns a function that builds the channel, so that the caller can
 * check its own state between the read and the build. Returns undefined if the store has no such channel.
 */
export async function loadChannel(
  store: LogStore,
  uri: Uri,
  tail: number,
): Promise<((committedSeq: number) => Channel) | undefined> {
  const found = await store.load(uri, tail)
  if (!found) return undefined
  const least = leastTail(found)
  // More than `tail` rows are needed only after a crash, if many rows were stored since the last head.
  return least > tail
    ? loadChannel(store, uri, least)
    : (committedSeq) => channelFrom(uri, found, committedSeq)
}

/** Builds a channel from its stored form. Everything that is stored counts as committed. */
function channelFrom(uri: Uri, found: LoadedChannel | DamagedChannel, committedSeq: number): Channel {
  const { kind, state, older, newer } = rebuild(uri, found)
  // The cast is safe: the reducer of this kind has made the state.
  const head = state as StateOf<KindName>
  const channel = new Channel(uri, kind, head, { ephemeralFrom: committedSeq, older })
  channel.commit(head, older.length)
  // The condition only tells the compiler that the channel is not damaged: for a damaged one `rebuild` has thrown.
  if (!('damaged' in found))
    channel.writes.loaded(found.envelopes.length, newer, found.fromCreation ? 0 : found.seq)
  return channel
}
