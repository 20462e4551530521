import type { StoredEnvelope } from '@atrium/host/ports/log'
import { lineSum } from './checksums.ts'

/** A stored envelope; the lines of a segment have no sum, and only its last line has a chain. */
export interface Line {
  readonly seq: number
  readonly action: string
  readonly origin: string | null
  readonly sum: number | null
  readonly chain: number | null
}

/** The separator between joined lines. JSON always escapes this control character, so it never occurs in JSON. */
export const LINE_END = '\x1e'

/** Thrown for data that fails its checksum or does not fit the rest of its channel. */
export class Damage extends Error {}

/** Verifies a line and converts it to an envelope. */
export function toEnvelope(channel: string, line: Line): StoredEnvelope {
  verify(channel, line)
  const { seq, action, origin } = line
  if (origin === null) return { seq, channel, action }
  // The checksum is right. So the text is an origin that this store has written.
  return { seq, channel, action, origin: JSON.parse(origin) as Required<StoredEnvelope>['origin'] }
}

/** Throws if the checksum of a line is wrong. A sealed line has no checksum, because the hash of its segment has verified it. */
export function verify(channel: string, { seq, action, origin, sum }: Line): void {
  if (sum !== null && sum !== lineSum({ seq, channel, action, origin }))
    throw new Damage(`number ${seq} has a wrong checksum`)
}

/** The lines of a channel, as far as they were read, and the place of the next one. */
interface Source {
  readonly lines: readonly Line[]
  readonly at: number
}

/** Returns the source whose next line has the lowest sequence number. */
export function nextSource<T extends Source>(sources: readonly T[]): T | undefined {
  let first: T | undefined
  for (const source of sources) {
    const line = source.lines[source.at]
    if (line && (!first || line.seq < (first.lines[first.at]?.seq ?? Infinity))) first = source
  }
  return first
}
