import { Channel } from '@atrium/host/log/channel'
import type { Entry } from '@atrium/host/log/entry'

/** Observes ephemeral actions when they get their number, because no store receives them. Only one simulation runs at a time. */
export function watchEphemeral(observed: (entry: Entry) => void): void {
  observe = observed
}

let observe: (entry: Entry) => void = () => {}
const { keepEphemeral } = Channel.prototype

Channel.prototype.keepEphemeral = function (this: Channel, entry: Entry): void {
  observe(entry)
  keepEphemeral.call(this, entry)
}
