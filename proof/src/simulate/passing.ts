import { Channel } from '@atrium/host/log/channel'
import type { Entry } from '@atrium/host/log/entry'

/** What only passes is given to no store: it is noted in the moment it is numbered. One simulation runs at a time. */
export function watchPassing(noted: (entry: Entry) => void): void {
  note = noted
}

let note: (entry: Entry) => void = () => {}
const { keepEphemeral } = Channel.prototype

Channel.prototype.keepEphemeral = function (this: Channel, entry: Entry): void {
  note(entry)
  keepEphemeral.call(this, entry)
}
