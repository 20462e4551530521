import type { Uri } from '@atrium/protocol/channel'
import type { AwakeChannels } from './awake-channels.ts'
import type { Channel } from './channel.ts'
import type { EntryWriter } from './entry-writer.ts'
import type { StagedPart } from './options.ts'

/** Channels that are written part by part. Nobody can find such a channel until it is published. */
export class StagedChannels {
  readonly #channels: AwakeChannels
  readonly #writer: EntryWriter

  constructor(channels: AwakeChannels, writer: EntryWriter) {
    this.#channels = channels
    this.#writer = writer
  }

  /** Hides the channel of this URI until it is published or dropped. */
  add(uri: Uri): void {
    this.#channels.staged.add(uri)
  }

  has(uri: Uri): boolean {
    return this.#channels.staged.has(uri)
  }

  /** Writes a part of a staged channel without notifying anyone. Returns the sequence number of the part. */
  write(channel: Channel, part: StagedPart): number {
    return this.#writer.stage(channel, part)
  }

  /** Loads a staged channel from the store. */
  load(uri: Uri): Promise<Channel | undefined> {
    return this.#channels.loadStaged(uri)
  }

  /** Makes a staged channel visible, as if it had just been loaded into memory. */
  publish(channel: Channel): void {
    this.#channels.publish(channel)
  }
}
