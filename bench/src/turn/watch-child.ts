import { openChat, turnStarted } from './chat.ts'
import type { Show, Shown } from './watchers.ts'
import { Wire, masked } from '../wire.ts'

// Those who watch a chat, in a process of their own: reading fifty sockets costs more than writing them. What they are
// told is counted where it stands, and nothing of it is parsed, so that the server is measured.
process.on('message', (show: Show) => {
  void play(show).then((shown) => process.send?.(shown))
})

async function play({ port, count, older, latency, session, words, length }: Show): Promise<Shown> {
  const watchers: Watcher[] = []
  for (let i = 0; i < count; i++) {
    const wire = await Wire.open(port)
    await openChat(wire, { session, older: i < older, latency, clientId: `${session}-${i}` })
    watchers.push(new Watcher(wire))
  }
  const [asker] = watchers
  if (!asker) throw new Error('nobody watches')
  const before = watchers.map(({ wire }) => wire.frames)
  const sent = performance.now()
  asker.wire.write(masked(turnStarted(session, 1, `long ${words}`)))
  await Promise.all(watchers.map(({ wire, heard }) => wire.until(() => heard.length >= length)))
  const frames = Math.max(...watchers.map(({ wire }, i) => wire.frames - (before[i] ?? 0)))
  for (const { wire } of watchers) wire.close()
  const wrong = watchers.some(({ heard }) => heard.length !== length)
  if (wrong) throw new Error('somebody heard another text')
  return {
    first: asker.heard.first - sent,
    took: Math.max(...watchers.map(({ heard }) => heard.last)) - sent,
    frames,
  }
}

/** One who counts the characters of the text that it is told, however they are packed. */
class Watcher {
  readonly wire: Wire
  readonly heard = { length: 0, first: 0, last: 0 }

  constructor(wire: Wire) {
    this.wire = wire
    wire.heard = (data, start, end) => this.#count(data, start, end)
  }

  #count(data: Buffer, start: number, end: number): void {
    const at = data.indexOf(mark, start)
    if (at < 0 || at >= end) return
    const length = data.indexOf('"', at + mark.length) - at - mark.length
    if (length === 0) return
    this.heard.last = performance.now()
    if (this.heard.length === 0) this.heard.first = this.heard.last
    this.heard.length += length
  }
}

/** The guide's words hold nothing that JSON escapes. */
const mark = Buffer.from('"content":"')
