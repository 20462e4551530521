import { Channel } from '@atrium/host/log/channel'
import type { Entry } from '@atrium/host/log/entry'

/** What only passes is given to no store: it is noted in the moment it is numbered. One simulation runs at a time. */
export function watchPassing(noted: (entry: Entry) => void): void {
  note = noted
}

let note: (entry: Entry) => void = () => {}
const { pass } = Channel.prototype

Channel.prototype.pass = function (this: Channel, entry: Entry): void {
  note(entry)
  pass.call(this, entry)
}
