import type { Uri } from '@atrium/protocol/channel'
import { Channel } from './channel.ts'
import type { DamagedChannel, LoadedChannel } from './ports/log.ts'
import { rebuild } from './rebuild.ts'

/** A channel as it comes back into memory: everyone has been told all that is stored of it. */
export function awakened(uri: Uri, loaded: LoadedChannel | DamagedChannel, told: number): Channel {
  const { kind, state, older, newer } = rebuild(uri, loaded)
  const channel = new Channel(uri, kind, state, told, older)
  channel.told = state
  channel.sinceHead = 'damaged' in loaded ? 0 : loaded.envelopes.length
  channel.rowsSinceHead = newer
  return channel
}
