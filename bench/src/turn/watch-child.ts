import { openChat, turnStarted } from '../messages.ts'
import type { WatchedTurn, WatchResult } from './watchers.ts'
import { Wire, masked } from '../wire.ts'

// The watchers of a chat have their own process, because reading fifty sockets costs more than writing to them. The
// watchers count characters without parsing the frames, so that the bench measures the server.
process.on('message', (turn: WatchedTurn) => {
  void watch(turn).then((result) => process.send?.(result))
})

async function watch(turn: WatchedTurn): Promise<WatchResult> {
  const { port, count, versions, latency, session, words, length } = turn
  const versionOf = (i: number) => versions[i % versions.length] ?? '1.0.0'
  const watchers: Watcher[] = []
  for (let i = 0; i < count; i++) {
    const wire = await Wire.open(port)
    await openChat(wire, { session, version: versionOf(i), latency, clientId: `${session}-${i}` })
    watchers.push(new Watcher(wire))
  }
  const [starter] = watchers
  if (!starter) throw new Error('a turn needs at least one watcher')
  const sent = performance.now()
  starter.wire.write(masked(turnStarted(session, 1, `long ${words}`, versionOf(0))))
  await Promise.all(watchers.map(({ wire, received }) => wire.until(() => received.length >= length)))
  for (const { wire } of watchers) wire.close()
  const differs = watchers.some(({ received }) => received.length !== length)
  if (differs) throw new Error('a watcher received a text of another length')
  return { took: Math.max(...watchers.map(({ received }) => received.last)) - sent }
}

/** A client that counts the characters of the answer, in however many actions they arrive. */
class Watcher {
  readonly wire: Wire
  readonly received = { length: 0, last: 0 }

  constructor(wire: Wire) {
    this.wire = wire
    wire.onFrame = (data, start, end) => this.#count(data, start, end)
  }

  #count(data: Buffer, start: number, end: number): void {
    const at = data.indexOf(contentKey, start)
    if (at < 0 || at >= end) return
    const length = data.indexOf('"', at + contentKey.length) - at - contentKey.length
    if (length === 0) return
    this.received.last = performance.now()
    this.received.length += length
  }
}

/** The JSON key before the text of a delta. The text ends at the next quote, because the guide's words need no JSON escapes. */
const contentKey = Buffer.from('"content":"')
