import { limits } from '@atrium/protocol/limits'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { Entry } from '../log/entry.ts'
import type { World } from '../ports/world.ts'

/** Bytes for one socket: in order, bounded, merged where they wait. */
export class Outbox {
  readonly #transport: Transport
  readonly #world: World
  #held: Entry[] = []
  /** Other messages that wait for an answer; what they say has no place in the order. */
  #notes: string[] = []
  #heldBytes = 0
  /** Of what is unread, what was sent when it could be: answers, and a message to one who had read. It is no backlog. */
  #apart = 0
  /** Nothing is sent while an answer that must come first is being made. */
  #pauses = 0
  #draining = false
  #closing = false
  #latency: number | undefined = 0
  #due = false
  #undo: (() => void) | undefined
  readonly #frames: (entry: Entry) => readonly Uint8Array[]

  /** `frames`: how an entry is told here; not at all where there is none. */
  constructor(
    transport: Transport,
    world: World,
    frames: (entry: Entry) => readonly Uint8Array[] = ({ frame }) => [frame],
  ) {
    this.#transport = transport
    this.#world = world
    this.#frames = frames
  }

  /** How long text may wait for more of it, in milliseconds: until the step is over where nobody has asked for anything. */
  set latency(ms: number | undefined) {
    this.#latency = ms
  }

  get latency(): number | undefined {
    return this.#latency
  }

  deliver(entry: Entry): void {
    if (this.#closing || this.#transport.closed.aborted) return
    const slow = this.#slow
    const waits = this.#mayWait(entry)
    if (this.#pauses === 0 && !slow && !waits) {
      const frames = this.#frames(entry)
      if (frames.length > 0) this.flush()
      for (const frame of frames) this.#sendApart(frame)
      return
    }
    // What may be merged gets its frame when it has been; each generation has words for it.
    if (!grows(entry) && this.#frames(entry).length === 0) return
    this.#held.push(entry)
    this.#heldBytes += entry.text.length
    if (this.#backlog > this.#most) this.#heldBytes = this.#merge()
    if (this.#backlog > this.#most) this.#tooSlow()
    else if (this.#pauses === 0) this.#wait(slow)
  }

  /** What was told before this goes before the answer, also to a reader who is slow. */
  pause(): void {
    this.flush()
    this.#pauses++
  }

  resume(): void {
    this.#pauses--
    this.flush(true)
  }

  /** What waits and need not be told: the answer that is about to be sent says it. */
  forget(known: (entry: Entry) => boolean): void {
    this.#held = this.#held.filter((entry) => !known(entry))
    this.#heldBytes = this.#lengthHeld()
  }

  /** There is no answer that anything could wait for. */
  clear(): void {
    this.#held = []
    this.#notes = []
    this.#heldBytes = 0
  }

  /** Another message. What was told before it goes before it, unless it is the very answer that the rest waits for. */
  send(frame: string | Uint8Array): void {
    this.flush()
    // Answers are asked for and may be large.
    const unread = this.#heldBytes + this.#transport.buffered + frame.length
    if (unread > limits.answerBytes) this.#tooSlow()
    if (!this.#closing) this.#sendApart(frame)
  }

  /** A message that nobody asked for: it counts like what is told. */
  notify(frame: string): void {
    if (this.#closing) return
    // What it follows from was within the bound, and it repeats that.
    if (this.#backlog > this.#most) return this.#tooSlow()
    if (this.#pauses > 0) {
      this.#notes.push(frame)
      this.#heldBytes += frame.length
    } else if (this.#slow) {
      this.flush()
      this.#transport.send(frame)
    } else this.send(frame)
  }

  /** Everything that waits, now; apart where it waited for us and not for its reader. */
  flush(apart = false): void {
    this.#undo?.()
    this.#undo = undefined
    if (this.#pauses > 0 || this.#held.length + this.#notes.length === 0) return
    this.#merge()
    const frames = [...this.#held.flatMap((entry) => this.#frames(entry)), ...this.#notes]
    this.#held = []
    this.#notes = []
    this.#heldBytes = 0
    for (const frame of frames)
      if (apart) this.#sendApart(frame)
      else this.#transport.send(frame)
  }

  /** So much is unread that what comes waits. */
  get slow(): boolean {
    return this.#slow || this.#heldBytes > limits.slowBytes
  }

  get #slow(): boolean {
    return this.#transport.buffered > limits.slowBytes
  }

  get #backlog(): number {
    return this.#heldBytes + Math.max(0, this.#transport.buffered - this.#apart)
  }

  /** Who waits for an answer cannot read what is held back until then: that is no slowness of its own. */
  get #most(): number {
    return this.#pauses > 0 ? limits.answerBytes : limits.unreadBytes
  }

  #sendApart(frame: string | Uint8Array): void {
    this.#apart = (this.#slow ? this.#apart : 0) + frame.length
    this.#transport.send(frame)
  }

  /** Whoever does not read loses the link, not we the memory. */
  #tooSlow(): void {
    if (this.#closing) return
    this.#closing = true
    this.#held = []
    this.#notes = []
    this.#transport.close(1013, 'this reader is too slow; reconnect')
  }

  #wait(slow: boolean): void {
    if (slow) {
      if (this.#draining) return
      this.#draining = true
      void this.#transport.drained().then(() => {
        this.#draining = false
        this.flush()
      })
    } else if (this.#latency === undefined) this.#flushSoon()
    else this.#undo ??= this.#world.later(this.#latency, () => this.flush())
  }

  /** When the present step is over: nothing comes later for that, and what was told in one step goes together. */
  #flushSoon(): void {
    if (this.#due) return
    this.#due = true
    this.#world.soon(() => {
      this.#due = false
      // What came since then may have filled the link: the rest waits for its reader.
      if (this.#slow) this.#wait(true)
      else this.flush(true)
    })
  }

  /** Whether more of the same may be waited for: not with what is long. */
  #mayWait(entry: Entry): boolean {
    const { length } = entry.text
    if (this.#latency === undefined) return grows(entry) && this.#heldBytes + length <= limits.slowBytes
    return this.#latency > 0 && length <= limits.slowBytes
  }

  /** Runs of text for the same part that stand next to each other become one; gives the bytes that are left. */
  #merge(): number {
    this.#held = mergeRuns(this.#held)
    return this.#lengthHeld()
  }

  #lengthHeld(): number {
    const texts = [...this.#held.map(({ text }) => text), ...this.#notes]
    return texts.reduce((sum, text) => sum + text.length, 0)
  }
}

/** Neighbours in this order only: across another action the order would change. The last one's number stands for all. */
export function mergeRuns(entries: readonly Entry[]): Entry[] {
  const merged: Entry[] = []
  let run: Entry[] = []
  const close = () => {
    const joined = join(run)
    if (joined) merged.push(joined)
    run = []
  }
  for (const entry of entries) {
    if (run.length > 0 && !continues(run.at(-1), entry)) close()
    run.push(entry)
  }
  close()
  return merged
}

interface TextAction {
  readonly type: string
  readonly turnId?: string
  readonly partId?: string
  readonly content?: string
  readonly data?: string
  readonly _meta?: unknown
}

const growing = new Set(['chat/delta', 'chat/reasoning', 'terminal/data'])

/** Text that more of the same may be put behind. */
function grows({ action, origin, only }: Entry): boolean {
  return growing.has(action.type) && origin === undefined && only === undefined
}

function continues(before: Entry | undefined, entry: Entry): boolean {
  if (!before || before.channel !== entry.channel || before.only || entry.only) return false
  const a = before.action as TextAction
  const b = entry.action as TextAction
  const plain =
    a._meta === undefined &&
    b._meta === undefined &&
    before.origin === undefined &&
    entry.origin === undefined
  return plain && growing.has(a.type) && a.type === b.type && a.turnId === b.turnId && a.partId === b.partId
}

function join(run: readonly Entry[]): Entry | undefined {
  const [first] = run
  const last = run.at(-1)
  if (!first || !last || first === last) return last
  const made = joined.get(last)
  if (made?.first === first) return made.whole
  const key = last.action.type === 'terminal/data' ? 'data' : 'content'
  const whole = run.map((entry) => (entry.action as TextAction)[key] ?? '').join('')
  const action = { ...last.action, [key]: whole }
  const text = JSON.stringify(action)
  const joint = last.withAction(action, text)
  joined.set(last, { first, whole: joint })
  return joint
}

/** Many links are told the same run, and the same ends are the same run: it is merged, and its frame made, once. */
const joined = new WeakMap<Entry, { readonly first: Entry; readonly whole: Entry }>()
